package proxy

import (
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// playground serves the built site. A file with a .gz beside it goes out
// compressed to whoever takes that.
func playground(site fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		if site == nil || name == "index.html" && !exists(site, name) {
			servePlaceholder(w, site)
			return
		}
		if !exists(site, name) {
			http.Error(w, "the playground has no such file", http.StatusNotFound)
			return
		}
		serveFile(w, r, site, name)
	})
}

func exists(site fs.FS, name string) bool {
	info, err := fs.Stat(site, name)
	return err == nil && info.Mode().IsRegular()
}

func serveFile(w http.ResponseWriter, r *http.Request, site fs.FS, name string) {
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", cacheControl(r))
	if exists(site, name+".gz") {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header) {
			h.Set("Content-Encoding", "gzip")
			name += ".gz"
		}
	}
	http.ServeFileFS(w, r, site, name)
}

// cacheControl lets a browser keep what is asked for by the version of the
// site, ?v=…, because the next build asks by another. Only the pages
// themselves go by the same name in every build.
func cacheControl(r *http.Request) string {
	if r.URL.Query().Get("v") != "" {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// contentType knows the types that the page needs whatever the machine's own
// table says: a browser compiles WebAssembly while it loads only under its
// proper type.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".wasm":
		return "application/wasm"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
		return "application/octet-stream"
	}
}

// acceptsGzip looks for gzip that is not refused by q=0 (RFC 9110 section 12.5.3).
func acceptsGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h["Accept-Encoding"], ","), ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.TrimSpace(coding) != "gzip" {
			continue
		}
		q := strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
		return q == "" || strings.Trim(q, "0.") != ""
	}
	return false
}

const notBuilt = "<!doctype html><meta charset=utf-8><title>minilb</title><p>The playground is not built yet: run <code>make site</code>."

// servePlaceholder is for a program that was compiled before its page was.
func servePlaceholder(w http.ResponseWriter, site fs.FS) {
	page := []byte(notBuilt)
	if site != nil {
		if own, err := fs.ReadFile(site, "placeholder.html"); err == nil {
			page = own
		}
	}
	w.Header().Set("Content-Type", contentType(".html"))
	_, _ = w.Write(page)
}
