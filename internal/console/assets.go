package console

import (
	"embed"
	"net/http"
	"path"
)

// The scripts are those of npm packages, unchanged: htmx.org and htmx-ext-sse, each with its licence beside it.
//
//go:embed assets
var assets embed.FS

// mediaTypes are those of what pages load, by the ends of names. Nothing else is served.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// serveAsset serves what pages load. It tells nobody anything.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := assets.ReadFile("assets/" + name)
	of := mediaTypes[path.Ext(name)]
	if err != nil || of == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", of)
	w.Header().Set("Cache-Control", "private, max-age=3600")
	_, _ = w.Write(text) // who has left needs no answer
}
