--
-- PostgreSQL database dump
--

SET statement_timeout = 0;

CREATE TABLE public.links (
    id integer NOT NULL,
    url text
);

COPY public.links (id, url, title) FROM stdin;
1	https://a.example/	One
2	https://b.example/	\N
3	https://c.example/x	Three
\.

ALTER TABLE ONLY public.links ADD CONSTRAINT links_pkey PRIMARY KEY (id);
