WARC/1.0
WARC-Type: warcinfo
WARC-Record-ID: <urn:uuid:8cd62c27-5327-4be5-adc4-ddf21f21529a>
WARC-Filename: crawl.wat
WARC-Date: 2026-11-21T20:26:43Z
WARC-Block-Digest: sha1:U4ESLLFYC2IS3QON5ZSRE7A5GKT2XDQW
Content-Type: application/warc-fields
Content-Length: 18

software: warcio


WARC/1.0
WARC-Type: metadata
WARC-Record-ID: <urn:uuid:efefc675-b74d-4824-89dc-6b8da6fd4b21>
WARC-Target-URI: http://example.org/0
WARC-Date: 2026-11-21T20:26:43Z
WARC-Payload-Digest: sha1:SAHBF5JIG3UG3UJIGCZAORQF3QB3Y4C6
WARC-Block-Digest: sha1:SAHBF5JIG3UG3UJIGCZAORQF3QB3Y4C6
Content-Type: application/json
Content-Length: 523

{"Container": {"Links": 1}, "Envelope": {"WARC-Header-Metadata": {"WARC-Target-URI": "http://example.org/0"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": {"Head": {"Title": "\"Links\": [{\"url\": \"no\"}]", "Link": [{"url": "no"}]}, "Links": [{"path": "A@/href", "url": "http://example.org/", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "../a?b", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "#c", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "", "text": "say \"hi\" [{"}]}}}}}

WARC/1.0
WARC-Type: metadata
WARC-Record-ID: <urn:uuid:1e97b8fe-5476-479d-97bf-e8fff168b948>
WARC-Target-URI: http://example.org/1
WARC-Date: 2026-11-21T20:26:43Z
WARC-Payload-Digest: sha1:BEFEUJKWCIIQO4JMCG76QM7WZFEOCNXE
WARC-Block-Digest: sha1:BEFEUJKWCIIQO4JMCG76QM7WZFEOCNXE
Content-Type: application/json
Content-Length: 192

{"Container": {"Links": 1}, "Envelope": {"WARC-Header-Metadata": {"WARC-Target-URI": "http://example.org/1"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": {"Links": []}}}}}

WARC/1.0
WARC-Type: metadata
WARC-Record-ID: <urn:uuid:0a4f5fd3-4288-4be2-ba15-21a0678a93c3>
WARC-Target-URI: http://example.org/2
WARC-Date: 2026-11-21T20:26:43Z
WARC-Payload-Digest: sha1:FKUPR5LWJS76EPPLE6RUFC5FCF77NW5E
WARC-Block-Digest: sha1:FKUPR5LWJS76EPPLE6RUFC5FCF77NW5E
Content-Type: application/json
Content-Length: 191

{"Container": {"Links": 1}, "Envelope": {"WARC-Header-Metadata": {"WARC-Target-URI": "http://example.org/2"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": {"Head": {}}}}}}

WARC/1.0
WARC-Type: metadata
WARC-Record-ID: <urn:uuid:1d05f1c4-14e3-4c9d-9edf-410e5d772d7f>
WARC-Target-URI: http://example.org/3
WARC-Date: 2026-11-21T20:26:43Z
WARC-Payload-Digest: sha1:VO6YIAC3KC362DIKLWA3LIYUVL4UQYOA
WARC-Block-Digest: sha1:VO6YIAC3KC362DIKLWA3LIYUVL4UQYOA
Content-Type: application/json
Content-Length: 259

{"Container": {"Links": 1}, "Envelope": {"WARC-Header-Metadata": {"WARC-Target-URI": "http://example.org/3"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": {"Links": [{"path": "no url"}, {"alt": {"url": "no"}, "url": "café \\ \" \n"}]}}}}}

WARC/1.0
WARC-Type: metadata
WARC-Record-ID: <urn:uuid:a71ca9af-87d8-4d2a-932e-f5cfabb25e90>
WARC-Target-URI: http://example.org/4
WARC-Date: 2026-11-21T20:26:43Z
WARC-Payload-Digest: sha1:TTRMBB75W6E2YUHOR3HLQSNYOFYCWNDH
WARC-Block-Digest: sha1:TTRMBB75W6E2YUHOR3HLQSNYOFYCWNDH
Content-Type: application/json
Content-Length: 3180

{"Container": {"Links": 1}, "Envelope": {"WARC-Header-Metadata": {"WARC-Target-URI": "http://example.org/4"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": {"Links": [{"path": "A@/href", "url": "/0", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/1", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/2", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/3", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/4", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/5", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/6", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/7", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/8", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/9", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/10", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/11", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/12", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/13", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/14", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/15", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/16", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/17", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/18", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/19", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/20", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/21", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/22", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/23", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/24", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/25", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/26", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/27", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/28", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/29", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/30", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/31", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/32", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/33", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/34", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/35", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/36", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/37", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/38", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/39", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/40", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/41", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/42", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/43", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/44", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/45", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/46", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/47", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/48", "text": "say \"hi\" [{"}, {"path": "A@/href", "url": "/49", "text": "say \"hi\" [{"}]}}}}}

