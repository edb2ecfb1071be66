// Command play is the playground: the document in, the document out. What to show is decided in wasm/page; this program
// copies it. In a Web Worker the same program, loaded from the same file, runs the simulations.
//
// The page keeps one worker for its whole life. Starting another takes longer than simulating 5000 requests, so a run
// that is no longer wanted is not killed: the worker lets messages in every few milliseconds and gives up when it is
// told to. Only a worker that does not listen any more is terminated and replaced.
package main
