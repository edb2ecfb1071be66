// Package e2e drives the built page in a real Chromium, as a person would: it opens links, moves sliders, and compares
// what the page shows with what the simulator gives natively. Its tests need `make site` and Chromium, and say so.
package e2e
