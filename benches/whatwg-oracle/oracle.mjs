// What npm's whatwg-url says of lines: a row of level, errors, host and URL for each, as urlsift::whatwg says it.
//
// A line of the input is the bytes of a URL as hexadecimal digits, and perhaps a blank and those of a base.
import { createInterface } from "node:readline";
import whatwg from "whatwg-url";

const decode = (digits, fatal) => new TextDecoder("utf-8", { ignoreBOM: true, fatal }).decode(Buffer.from(digits, "hex"));

function isUtf8(digits) {
  try {
    decode(digits, true);
    return true;
  } catch {
    return false;
  }
}

function levelOf(digits, text, url, errors, baseURL) {
  if (url === null) {
    return errors.at(-1) === "missing-scheme-non-relative-URL" ? "relative" : "failure";
  }
  return isUtf8(digits) && whatwg.isValidURLString(text, { baseURL }) ? "valid" : "errors";
}

for await (const line of createInterface({ input: process.stdin })) {
  const [digits, base] = line.split(" ");
  const text = decode(digits, false);
  const baseURL = base === undefined ? null : whatwg.parseURL(decode(base, false));
  const { url, validationErrors } = whatwg.parseURLWithValidationErrors(text, { baseURL });
  const host = url === null || url.host === null ? "-" : whatwg.serializeHost(url.host);
  const row = [levelOf(digits, text, url, validationErrors, baseURL), validationErrors.join(",") || "none", host];
  process.stdout.write([...row, url === null ? "-" : whatwg.serializeURL(url)].join("\t") + "\n");
}
