// Package page is the playground's view model: a scenario in, controls out; results in, figures, sentences and chart
// columns out. It knows nothing of a browser, so that everything the page decides is tested natively, and wasm/play has
// only to copy values in and out of the document.
package page
