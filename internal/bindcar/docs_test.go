package bindcar

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	pathpkg "path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// manual returns the first cells of the table of a section of docs/bindcar.md, with the rest of their rows.
func manual(t *testing.T, heading string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/bindcar.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("docs/bindcar.md has no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	cells := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|$").FindAllStringSubmatch(section, -1) {
		cells[row[1]] = row[2]
	}
	return cells
}

func sameNames(t *testing.T, what string, listed map[string]string, there []string) {
	t.Helper()
	for _, name := range there {
		if _, ok := listed[name]; !ok {
			t.Errorf("%s of docs/bindcar.md do not have %s", what, name)
		}
	}
	for name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("%s of docs/bindcar.md have %s, which does not exist", what, name)
		}
	}
}

func TestTheManualHasEveryRoute(t *testing.T) {
	var there []string
	for _, r := range (&Server{bind: &bind{settings: Settings{Docs: true}}}).routes() {
		there = append(there, r.method+" "+r.path)
	}
	sameNames(t, "the routes", manual(t, "Routes"), there)
}

func TestTheManualHasEveryVariable(t *testing.T) {
	var there []string
	for _, file := range []string{"parse.go", "parseauth.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"`).FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(there, name[1]) {
				there = append(there, name[1])
			}
		}
	}
	listed := manual(t, "Environment")
	sameNames(t, "the variables", listed, there)
	s, err := ParseSettings(nil, environment(withAccount))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"BIND_ZONE_DIR": s.ZoneDir, "RNDC_SERVER": s.RNDC, "RUST_LOG": s.LogLevel,
		"BIND_API_ADDRESS": strings.Split(s.Listen, ":")[0], "API_PORT": strings.Split(s.Listen, ":")[1],
		"BIND_TOKEN_AUDIENCES": s.Review.Audiences[0], "NSUPDATE_PORT": strings.Split(s.DNS, ":")[1],
		"RNDC_KEY_NAME": s.Keys.Static[0].Name,
	} {
		if !strings.HasPrefix(listed[name], " `"+value+"` |") {
			t.Errorf("docs/bindcar.md has for %s:%s; the default is %s", name, listed[name], value)
		}
	}
}

func TestTheManualHasEveryMetric(t *testing.T) {
	m := newMetrics("1", func() float64 { return 0 })
	described := make(chan *prometheus.Desc, 100)
	m.registry.Describe(described)
	close(described)
	listed := manual(t, "Metrics")
	var there []string
	for d := range described {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		labels := regexp.MustCompile(`variableLabels: \{([^}]*)\}`).FindStringSubmatch(d.String())[1]
		there = append(there, name)
		row := strings.Split(listed[name], "|")
		if len(row) < 3 || strings.NewReplacer("`", "", " ", "").Replace(row[1]) != labels {
			t.Errorf("docs/bindcar.md has for %s:%s; the labels are %s", name, listed[name], labels)
		}
	}
	sameNames(t, "the metrics", listed, there)
}

// seen collects which status of which route the tests of this package have met. It is a package variable as the tests
// share it.
var seen struct {
	mu  sync.Mutex
	all map[string]bool // "GET /api/v1/zones 200"
}

// openAPI is the part of the document that tests look at.
type openAPI struct {
	Paths map[string]map[string]struct {
		RequestBody *struct {
			Content map[string]struct{ Schema openAPISchema }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema openAPISchema }
		}
		Security []map[string][]string
	}
	Components struct{ Schemas map[string]openAPISchema }
}

type openAPISchema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Nullable             bool
	Required             []string
	Properties           map[string]openAPISchema
	AdditionalProperties *openAPISchema
	Items                *openAPISchema
	Minimum              *float64
	Maximum              *float64
}

// conforms reports what of a JSON value the schema does not allow.
func (d openAPI) conforms(at string, schema openAPISchema, value any) error {
	if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok {
		return d.conforms(at, d.Components.Schemas[name], value)
	}
	switch v := value.(type) {
	case nil:
		if !schema.Nullable {
			return fmt.Errorf("%s is null", at)
		}
		return nil
	case map[string]any:
		for _, name := range schema.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s has no %s", at, name)
			}
		}
		for name, inner := range v {
			property, ok := schema.Properties[name]
			if !ok && schema.AdditionalProperties != nil {
				property, ok = *schema.AdditionalProperties, true
			}
			if !ok {
				return fmt.Errorf("%s has %s, of which the document does not know", at, name)
			}
			if err := d.conforms(at+"."+name, property, inner); err != nil {
				return err
			}
		}
		return expect(at, schema.Type, "object")
	case []any:
		for i, inner := range v {
			if err := d.conforms(at+"["+strconv.Itoa(i)+"]", *schema.Items, inner); err != nil {
				return err
			}
		}
		return expect(at, schema.Type, "array")
	case string:
		return expect(at, schema.Type, "string")
	case bool:
		return expect(at, schema.Type, "boolean")
	case float64:
		if schema.Minimum == nil || v < *schema.Minimum || schema.Maximum != nil && v > *schema.Maximum {
			return fmt.Errorf("%s is %v, out of bounds", at, v)
		}
		return expect(at, schema.Type, "integer")
	}
	return fmt.Errorf("%s is a %T", at, value)
}

func expect(at, got, want string) error {
	if got != want {
		return fmt.Errorf("%s is of the type %s in the document, and %s in the answer", at, got, want)
	}
	return nil
}

func (f *fixture) openAPI() openAPI {
	f.t.Helper()
	var d openAPI
	if err := json.Unmarshal(f.server.document, &d); err != nil {
		f.t.Fatal(err)
	}
	return d
}

// documented compares an answer with the document.
func (f *fixture) documented(req *http.Request, resp *http.Response, body string) {
	f.t.Helper()
	_, pattern := f.server.mux.Handler(req)
	method, path, _ := strings.Cut(pattern, " ")
	if escaped := req.URL.EscapedPath(); path == "" || pathpkg.Clean(escaped) != escaped { // 404 and 405 of no route
		return
	}
	status := strconv.Itoa(resp.StatusCode)
	seen.mu.Lock()
	seen.all[pattern+" "+status] = true
	seen.mu.Unlock()
	d := f.openAPI()
	response, ok := d.Paths[path][strings.ToLower(method)].Responses[status]
	if !ok {
		f.t.Errorf("%s answers %s, of which the document does not know", pattern, status)
		return
	}
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	content, ok := response.Content[media]
	if !ok {
		f.t.Errorf("%s answers %s in %s, of which the document does not know", pattern, status, media)
		return
	}
	if media != "application/json" || path == "/api/v1/openapi.json" && resp.StatusCode == http.StatusOK {
		return
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		f.t.Errorf("%s answers %s with %q: %v", pattern, status, body, err)
	} else if err := d.conforms("the body", content.Schema, value); err != nil {
		f.t.Errorf("%s answers %s with %s: %v", pattern, status, body, err)
	}
}

// unseen lists what the document says that no test has met. Of a BIND that fails otherwise than by not answering, and
// of what holds before every route alike, one route stands for all.
func unseen(routes []route) []string {
	var missing []string
	for _, r := range routes {
		for _, status := range r.statuses() {
			alike := []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTooManyRequests,
				http.StatusUnauthorized, http.StatusMisdirectedRequest,
				http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}
			if key := fmt.Sprintf("%s %s %d", r.method, r.path, status); !seen.all[key] && !slices.Contains(alike, status) {
				missing = append(missing, key)
			}
		}
	}
	return missing
}

func TestOpenAPIHasEveryRouteAndNoOther(t *testing.T) {
	f := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit(), Docs: true})
	status, text := f.send("GET", "/api/v1/openapi.json", "")
	if status != 200 || text != string(f.server.document) {
		t.Fatalf("the document is answered %d", status)
	}
	if status, text := f.send("GET", "/api/v1/docs", ""); status != 200 || !strings.Contains(text, "openapi.json") {
		t.Errorf("the page is answered %d %s", status, text)
	}
	d := f.openAPI()
	var described, there []string
	for path, operations := range d.Paths {
		for method, operation := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
			req, err := http.NewRequestWithContext(t.Context(), strings.ToUpper(method), "http://x"+strings.ReplaceAll(path,
				"{name}", "a.test"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, pattern := f.server.mux.Handler(req); pattern != strings.ToUpper(method)+" "+path {
				t.Errorf("%s %s of the document leads to %q", method, path, pattern)
			}
			status, _ := f.send(strings.ToUpper(method), strings.ReplaceAll(path, "{name}", "a.test"), "")
			if secured := len(operation.Security) > 0; secured != (status == http.StatusUnauthorized) {
				t.Errorf("%s %s needs a token in the document: %t; without one it answers %d", method, path, secured, status)
			}
		}
	}
	for _, r := range f.server.routes() {
		there = append(there, r.method+" "+r.path)
	}
	slices.Sort(described)
	slices.Sort(there)
	if !slices.Equal(described, there) {
		t.Errorf("the document has\n%s\nand there are\n%s", described, there)
	}
	private := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit()})
	if status, _ := private.send("GET", "/api/v1/docs", ""); status != http.StatusNotFound {
		t.Errorf("without BIND_ENABLE_DOCS the page is answered %d", status)
	}
	if status, _ := private.call("GET", "/api/v1/openapi.json", ""); status != 200 {
		t.Errorf("with a token the document is answered %d", status)
	}
}

// TestOpenAPISchemasTakeWhatTheServerTakes compares the schemas of requests with how bodies are read.
func TestOpenAPISchemasTakeWhatTheServerTakes(t *testing.T) {
	f := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit()})
	d := f.openAPI()
	for _, body := range []string{minimal,
		createBody("a.test", `,"primaries":null,"records":[{"name":"a","type":"A","value":"x","ttl":null}]`), `{}`,
		`{"zoneName":1}`, `[]`, `null`,
		strings.Replace(minimal, `"ttl":300`, `"ttl":-1`, 1), strings.Replace(minimal, `"ttl":300`, `"ttl":null`, 1),
		strings.Replace(minimal, `{"ns1.example.com.":"192.0.2.1"}`, `{"a":1}`, 1)} {
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		schema := d.Paths["/api/v1/zones"]["post"].RequestBody.Content["application/json"].Schema
		schemaErr := d.conforms("the body", schema, value)
		var c CreateZone
		readErr := decodeJSON([]byte(body), &c)
		if (schemaErr == nil) != (readErr == nil) {
			t.Errorf("%s: the document says %v, and the server %v", body, schemaErr, readErr)
		}
	}
	if !reflect.DeepEqual(d.Components.Schemas["CreateZone"].Required, []string{"zoneName", "zoneType", "zoneConfig"}) {
		t.Errorf("CreateZone requires %s", d.Components.Schemas["CreateZone"].Required)
	}
}

// reportUnseen ends a whole run of the tests with what the document promises and nothing has tried.
func reportUnseen(code int) int {
	for _, arg := range os.Args {
		if strings.HasPrefix(arg, "-test.run") || strings.HasPrefix(arg, "-test.bench") || strings.HasPrefix(arg,
			"-test.fuzz=") || strings.HasPrefix(arg, "-test.list") {
			return code
		}
	}
	for _, key := range unseen((&Server{bind: &bind{settings: Settings{Docs: true}}}).routes()) {
		fmt.Fprintln(os.Stderr, "no test has met what openapi.json says:", key)
		code = max(code, 1)
	}
	return code
}
