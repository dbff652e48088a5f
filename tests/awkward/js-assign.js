window.links = [
 "https://a.example/0",
 "https://a.example/1",
 "https://a.example/2",
 "https://a.example/3"
];
