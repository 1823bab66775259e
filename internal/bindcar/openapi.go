package bindcar

import (
	_ "embed"
	"net/http"
)

// openAPIDocument describes every route; TestOpenAPI compares it with them and with the types of api.go.
//
//go:embed openapi.json
var openAPIDocument []byte

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) (int, any, error) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPIDocument) // the caller may be gone
	return 0, nil, nil
}

// docsPage lists the routes for people, without scripts from anywhere.
const docsPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>bindcar</title>
<h1>bindcar</h1><p>The API is described by <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3).</p></html>
`

func (s *Server) docs(w http.ResponseWriter, _ *http.Request) (int, any, error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = w.Write([]byte(docsPage))
	return 0, nil, nil
}
