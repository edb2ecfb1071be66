// The Web Worker: it receives the compiled program, runs it, and keeps what arrives before the program listens.
"use strict";
if (typeof Go !== "function") importScripts("wasm_exec.js" + location.search); // of the same version as this file

let deliver = null;
const early = [];

// Called by the program when it is ready for messages.
self.minilbListen = (listener) => {
  deliver = listener;
  early.splice(0).forEach(deliver);
};

const run = async (module) => {
  const go = new Go();
  await go.run(await WebAssembly.instantiate(module, go.importObject));
  throw new Error("the simulator ended");
};

self.onmessage = ({ data }) => {
  if (data.module) {
    // An error in a promise does not reach the page; one thrown from a timer does, as the worker's error event.
    run(data.module).catch((error) => setTimeout(() => { throw error; }));
  } else if (deliver) {
    deliver(data);
  } else {
    early.push(data);
  }
};
