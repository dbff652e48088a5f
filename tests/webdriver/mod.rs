//! Drives a headless Chromium for tests. It speaks WebDriver (W3C), which is JSON over HTTP, to chromedriver, and only as
//! much as the tests need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A browser with a fresh profile. Dropping it closes the browser.
pub struct Browser {
    driver: Child,
    address: String,
    /// The path prefix of all requests to this browser.
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Panics
    /// If there is no chromedriver.
    pub fn start() -> Self {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().expect("chromedriver is installed");
        // chromedriver prints the port that it listens on.
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
        let port = lines.find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let port = port.expect("chromedriver says where it listens");
        let directory = tempfile::tempdir().unwrap();
        let profile = format!("--user-data-dir={}", directory.path().display());
        let mut browser = Self {
            driver,
            address: format!("127.0.0.1:{port}"),
            session: String::new(),
            _profile: directory,
        };
        let args = [
            "--headless",
            // Tests run as any user and in containers. The page is trusted.
            "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", &profile,
        ];
        let wanted =
            json!({ "goog:chromeOptions": { "args": args }, "goog:loggingPrefs": { "browser": "ALL" } });
        let session = browser.ask("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = format!("/session/{}", session["sessionId"].as_str().unwrap());
        browser
    }

    /// Sets the width of the window in pixels, and the preference for a dark page.
    pub fn look(&self, width: u32, dark: bool) {
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.tell("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.tell("Emulation.setEmulatedMedia", &media);
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        self.post("url", &json!({ "url": format!("file://{}", path.display()) }));
    }

    /// Runs the body of a function in the page, like a script of the page. Returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Clicks the first element that a selector matches.
    pub fn press(&self, selector: &str) {
        let element = self.post("element", &json!({ "using": "css selector", "value": selector }));
        let id = element.as_object().unwrap().values().next().unwrap().as_str().unwrap();
        self.post(&format!("element/{id}/click"), &json!({}));
    }

    /// The messages on the browser's console since the last call.
    pub fn console(&self) -> Vec<Value> {
        self.post("se/log", &json!({ "type": "browser" })).as_array().unwrap().clone()
    }

    /// Sends a command of the Chrome DevTools protocol.
    fn tell(&self, command: &str, params: &Value) {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": params }));
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}/{path}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let body = body.to_string();
        let head = format!("Host: {}\r\nContent-Type: application/json\r\nConnection: close", self.address);
        write!(stream, "{method} {path} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            .unwrap();
        let mut answer = BufReader::new(stream);
        let mut len = 0;
        for line in answer.by_ref().lines().map(Result::unwrap).skip(1).take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').unwrap();
            if name.eq_ignore_ascii_case("content-length") {
                len = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; len];
        answer.read_exact(&mut body).unwrap();
        let value = serde_json::from_slice::<Value>(&body).unwrap()["value"].take();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &self.session, &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
