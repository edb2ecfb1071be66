// Clients of another make than Go's: Node's own fetch, http, https and http2.
// node client.mjs URL [CA-FILE] [TRIAL…] makes each trial against a proxy, and
// prints what it saw as one JSON object.
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";

const [url, caFile, ...wanted] = process.argv.slice(2);
const ca = caFile ? readFileSync(caFile) : undefined;
const plain = url.startsWith("https") ? https : http;

// text is the whole of a stream.
async function text(stream) {
  let all = "";
  for await (const piece of stream) all += piece;
  return all;
}

// ask makes one request by node:http and resolves with its answer.
function ask(path, options, body) {
  return new Promise((resolve, reject) => {
    const request = plain.request(url + path, { ca, ...options }, resolve);
    request.on("error", reject);
    if (options?.told) for (const [event, f] of Object.entries(options.told(request))) request.on(event, f);
    else request.end(body);
  });
}

// h2 makes requests over one HTTP/2 session, prior knowledge where there is no TLS.
async function h2(f) {
  const session = http2.connect(url, { ca });
  try {
    return await f(session);
  } finally {
    session.close();
  }
}

function stream(session, fields, body) {
  return new Promise((resolve, reject) => {
    const request = session.request(fields);
    const answer = { informed: [] };
    request.on("response", (head) => (answer.head = head));
    request.on("headers", (head) => answer.informed.push(head[":status"]));
    request.on("trailers", (fields) => (answer.trailers = { ...fields }));
    request.on("error", reject);
    text(request).then((body) => resolve({ ...answer, body }), reject);
    request.end(body);
  });
}

const trials = {
  // fetch sends a body whose length it does not know, piece by piece.
  async fetchStreams() {
    let left = 5;
    const body = new ReadableStream({
      pull: (c) => (left-- > 0 ? c.enqueue(new TextEncoder().encode("piece ")) : c.close()),
    });
    const answer = await fetch(url + "/echo", { method: "POST", body, duplex: "half" });
    return [answer.status, answer.headers.get("x-minilb-backend"), await answer.text()];
  },

  // fetch reads events as they come: it asks for the next when it has the last.
  async fetchEvents() {
    const answer = await fetch(url + "/events");
    const seen = [];
    let rest = "";
    for await (const piece of answer.body) {
      rest += new TextDecoder().decode(piece);
      for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
        seen.push(rest.slice("data: ".length, end));
        await (await fetch(url + "/next")).text();
      }
    }
    return seen;
  },

  // fetch leaves in the middle.
  async fetchAborts() {
    const stop = new AbortController();
    const answer = await fetch(url + "/endless", { signal: stop.signal });
    const reader = answer.body.getReader();
    await reader.read();
    stop.abort();
    try {
      await reader.read();
    } catch (e) {
      return e.name;
    }
  },

  // An agent keeps its connection for the next request, whatever its method.
  async keepAlive() {
    const agent = new plain.Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set();
    const seen = [];
    for (const [method, body] of [["GET"], ["POST", "a".repeat(100_000)], ["HEAD"], ["PUT", "b"], ["DELETE"], ["OPTIONS"], ["GET"]]) {
      const answer = await ask("/count", { agent, method }, body);
      ports.add(answer.socket.localPort);
      seen.push(`${method} ${await text(answer)}`);
    }
    agent.destroy();
    return [ports.size, ...seen];
  },

  // Expect: 100-continue, interim answers and trailers, as node:http sees them.
  async interim() {
    const informed = [];
    const answer = await ask("/interim", {
      method: "POST",
      headers: { Expect: "100-continue", "Transfer-Encoding": "chunked", Trailer: "X-Sum", TE: "trailers" },
      told: (request) => ({
        continue() {
          informed.push(100);
          request.write("hello");
          request.addTrailers({ "X-Sum": "s1" });
          request.end();
        },
        information: (head) => informed.push(head.statusCode),
      }),
    });
    const body = await text(answer);
    return [[...new Set(informed)].sort(), body, answer.trailers];
  },

  // Many streams of one session are spread over the backends.
  async h2Parallel() {
    return h2(async (session) => {
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, i) => stream(session, { ":path": "/echo", ":method": "POST" }, "x".repeat(i * 1000))),
      );
      const backends = {};
      for (const a of all) backends[a.head["x-minilb-backend"]] = (backends[a.head["x-minilb-backend"]] ?? 0) + 1;
      return [all.every((a, i) => a.head[":status"] === 200 && a.body.length === i * 1000), backends];
    });
  },

  // Interim answers and trailers over HTTP/2.
  async h2Trailers() {
    return h2(async (session) => {
      const a = await stream(session, { ":path": "/interim", ":method": "POST", te: "trailers" }, "hello");
      return [a.informed, a.body, a.trailers];
    });
  },

  // A stream that is reset leaves the others of its session alone.
  async h2Resets() {
    return h2(async (session) => {
      const endless = session.request({ ":path": "/endless" });
      await new Promise((resolve) => endless.once("data", resolve));
      endless.close(http2.constants.NGHTTP2_CANCEL);
      const after = await stream(session, { ":path": "/echo", ":method": "POST" }, "after");
      return after.body;
    });
  },

  // A backend that breaks off shows as an error, not as an end.
  async breaksOff() {
    const seen = [];
    for (const f of [async () => (await fetch(url + "/break")).text(), () => ask("/break").then(text), () => h2((s) => stream(s, { ":path": "/break" }))]) {
      seen.push(await f().then((v) => "whole: " + JSON.stringify(v), () => "broken"));
    }
    return seen;
  },
};

const seen = {};
for (const name of wanted.length ? wanted : Object.keys(trials)) seen[name] = await trials[name]();
console.log(JSON.stringify(seen));
process.exit(0); // and do not wait for connections that fetch keeps
