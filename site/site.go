// Package site carries the built playground inside the program, so that minilb is one file to copy and run.
//
// What it embeds is site/dist, which `make site` fills and git ignores, except for placeholder.html: that page is
// committed so that a fresh clone compiles before anything is built, and says what to run.
package site

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var files embed.FS

// FS is the built playground, index.html at its root. Before `make site` it holds placeholder.html only.
func FS() fs.FS {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		panic("site: the embedded folder has no dist: " + err.Error())
	}
	return dist
}

// Built says whether the playground was there when the program was compiled.
func Built() bool { return built(FS()) }

// built looks for the page itself: it is the last thing that a half-made site would have.
func built(dist fs.FS) bool {
	info, err := fs.Stat(dist, "index.html")
	return err == nil && info.Mode().IsRegular()
}
