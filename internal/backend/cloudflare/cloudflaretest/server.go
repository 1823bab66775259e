// Package cloudflaretest is a server that behaves as Cloudflare's API does, as far as its documentation and reports of
// its answers tell.
package cloudflaretest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// Server is the service. Its fields are set before it is asked, or under its lock.
type Server struct {
	*httptest.Server
	sync.Mutex

	Tokens    map[string]Scope
	Zones     []*Zone
	Down      bool
	Throttle  int      // so many calls are refused
	Calls     []string // that were made
	PageMax   int      // records on a page, whatever is asked for; 0: what is asked for
	Quota     int      // records in a zone; 0: any number
	AfterPage func()
	Lose      int // so many answers to batches are lost after the batch was carried out

	next int
	mux  *http.ServeMux
}

// Scope is what a token may.
type Scope struct {
	Zones      []string // IDs; nil: all
	Read, Edit bool
}

// Zone is a zone. Kind and Status are "full" and "active" if they are "".
type Zone struct {
	ID, Name, Account, Kind, Status string
	Records                         map[string]map[string]any // by ID
}

// Token is one that may do everything.
const Token = "v4lid-token-of-a-test"

// Start starts the service for the time of a test.
func Start(t testing.TB, zones ...*Zone) *Server {
	f := New(zones...)
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// New makes the service without a place where it listens: whoever has it calls ServeHTTP.
func New(zones ...*Zone) *Server {
	mux := http.NewServeMux()
	f := &Server{Tokens: map[string]Scope{Token: {nil, true, true}}, Zones: zones, mux: mux}
	mux.HandleFunc("GET /client/v4/zones", f.listZones)
	mux.HandleFunc("GET /client/v4/zones/{zone}", f.getZone)
	mux.HandleFunc("GET /client/v4/zones/{zone}/dns_records", f.listRecords)
	mux.HandleFunc("POST /client/v4/zones/{zone}/dns_records/batch", f.batch)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fail(w, 400, 7000, "No route for that URI") })
	return f
}

// ServeHTTP answers one request.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.Lock()
	defer f.Unlock()
	f.Calls = append(f.Calls, r.Method+" "+r.URL.Path)
	switch {
	case f.Down:
		panic(http.ErrAbortHandler)
	case f.Throttle > 0:
		f.Throttle--
		w.Header().Set("Retry-After", "7")
		fail(w, 429, 971, "Please wait and consider throttling your request speed")
	case !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
		fail(w, 400, 6003, "Invalid request headers", 6111)
	default:
		if _, ok := f.Tokens[bearer(r)]; !ok {
			fail(w, 403, 9109, "Invalid access token")
			return
		}
		f.mux.ServeHTTP(w, r)
	}
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func fail(w http.ResponseWriter, status, code int, message string, chain ...int) {
	problem := map[string]any{"code": code, "message": message}
	for _, c := range chain {
		problem["error_chain"] = []any{map[string]any{"code": c, "message": "Invalid format for Authorization header"}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"success": false, "errors": []any{problem}, "messages": []any{},
		"result": nil})
}

func succeed(w http.ResponseWriter, result, info any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "errors": []any{}, "messages": []any{}, "result": result,
		"result_info": info})
}

// page cuts a page out of a list.
func page[T any](w http.ResponseWriter, r *http.Request, all []T, perPage, most int) {
	number := 1
	if text := r.FormValue("per_page"); text != "" {
		perPage, _ = strconv.Atoi(text)
	}
	if text := r.FormValue("page"); text != "" {
		number, _ = strconv.Atoi(text)
	}
	if perPage < 5 || number < 1 {
		fail(w, 400, 1004, "Invalid page or per_page")
		return
	}
	perPage = min(perPage, most)
	from := min((number-1)*perPage, len(all))
	cut := all[from:min(from+perPage, len(all))]
	if cut == nil {
		cut = []T{}
	}
	succeed(w, cut, map[string]int{"page": number, "per_page": perPage, "count": len(cut), "total_count": len(all)})
}

func (z *Zone) json() map[string]any {
	return map[string]any{"id": z.ID, "name": z.Name, "type": cmp.Or(z.Kind, "full"), "status": cmp.Or(z.Status, "active"),
		"account": map[string]any{"id": z.Account}}
}

func (f *Server) listZones(w http.ResponseWriter, r *http.Request) {
	scope := f.Tokens[bearer(r)]
	all := []map[string]any{}
	for _, z := range f.Zones {
		internal := z.Kind == "internal" && !strings.Contains(r.FormValue("type"), "internal")
		if scope.Read && !internal && (scope.Zones == nil || slices.Contains(scope.Zones, z.ID)) {
			all = append(all, z.json())
		}
	}
	page(w, r, all, 20, 50)
}

// zone finds the zone of a call, and asks whether the token may.
func (f *Server) zone(w http.ResponseWriter, r *http.Request, edit bool) *Zone {
	id, scope := r.PathValue("zone"), f.Tokens[bearer(r)]
	i := slices.IndexFunc(f.Zones, func(z *Zone) bool { return z.ID == id })
	switch {
	case scope.Zones != nil && !slices.Contains(scope.Zones, id), !scope.Read:
		fail(w, 403, 9109, "Unauthorized to access requested resource")
	case edit && !scope.Edit:
		fail(w, 403, 10000, "Authentication error")
	case i < 0:
		fail(w, 404, 7003, "Could not route to /client/v4/zones/"+id+", perhaps your object identifier is invalid?")
	default:
		return f.Zones[i]
	}
	return nil
}

func (f *Server) getZone(w http.ResponseWriter, r *http.Request) {
	if z := f.zone(w, r, false); z != nil {
		succeed(w, z.json(), nil)
	}
}

func (f *Server) listRecords(w http.ResponseWriter, r *http.Request) {
	z := f.zone(w, r, false)
	if z == nil {
		return
	}
	all := []map[string]any{}
	for _, record := range z.sorted() {
		if name := r.FormValue("name.exact"); name == "" || record["name"] == name {
			all = append(all, record)
		}
	}
	page(w, r, all, 100, cmp.Or(f.PageMax, 5_000_000))
	if f.AfterPage != nil {
		f.AfterPage()
	}
}

func (f *Server) batch(w http.ResponseWriter, r *http.Request) {
	z := f.zone(w, r, true)
	if z == nil {
		return
	}
	var b struct{ Deletes, Patches, Puts, Posts []map[string]any }
	body, _ := io.ReadAll(r.Body)
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		fail(w, 400, 9207, "Request body is invalid.")
		return
	}
	if n := len(b.Deletes) + len(b.Patches) + len(b.Puts) + len(b.Posts); n == 0 || n > 200 {
		fail(w, 400, 1004, fmt.Sprintf("DNS Validation Error: a batch of %d changes", n))
		return
	}
	txn := f.begin(z)
	result := map[string]any{}
	for _, part := range []struct {
		name string
		todo []map[string]any
		do   func(map[string]any) (map[string]any, *refusal)
	}{{"deletes", b.Deletes, txn.remove}, {"patches", b.Patches, txn.patch}, {"puts", b.Puts, txn.put},
		{"posts", b.Posts, txn.post}} {
		made := []any{}
		for _, todo := range part.todo {
			record, refused := part.do(todo)
			if refused != nil {
				fail(w, refused.status, refused.code, refused.message)
				return
			}
			made = append(made, record)
		}
		result[part.name] = made
	}
	txn.commit()
	if f.Lose > 0 {
		f.Lose--
		panic(http.ErrAbortHandler)
	}
	succeed(w, result, nil)
}

// Truth is what resolvers would be told of a zone.
func (f *Server) Truth(t testing.TB, zone *Zone) rr.Sets {
	t.Helper()
	sets, err := f.Answers(zone)
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// Answers is what resolvers would be told of a zone.
func (f *Server) Answers(zone *Zone) (rr.Sets, error) {
	f.Lock()
	defer f.Unlock()
	txn := rr.Sets{}.Txn()
	var all []dns.RR
	for _, record := range zone.Records {
		parsed, err := Parsed(record)
		if err != nil {
			return rr.Sets{}, err
		}
		if parsed.Header().Ttl == 1 {
			parsed.Header().Ttl = 300 // what "automatic" is
		}
		all = append(all, parsed)
	}
	sets, err := rr.FromRRs(all)
	if err != nil {
		return rr.Sets{}, fmt.Errorf("reading the records of zone %s: %w", zone.Name, err)
	}
	for _, set := range sets {
		txn.Put(set)
	}
	return txn.Sets(), nil
}

// Foreign changes the first zone in the dashboard.
func (f *Server) Foreign(t testing.TB, put []rr.Set, gone []rr.Key) {
	t.Helper()
	f.Lock()
	defer f.Unlock()
	txn := f.begin(f.Zones[0])
	for _, set := range put {
		gone = append(gone, set.Key())
	}
	for _, key := range gone {
		for _, r := range txn.names[bare(key)] {
			if r["type"] == key.Type.String() {
				_, _ = txn.remove(r)
			}
		}
	}
	for _, set := range put {
		for _, data := range set.Data {
			r := map[string]any{"name": bare(set.Key()), "type": set.Type.String(), "ttl": float64(set.TTL), "content": data,
				"proxied": false}
			if _, refused := txn.post(r); refused != nil {
				t.Errorf("%v: %v", set, refused)
			}
		}
	}
	txn.commit()
}

func bare(key rr.Key) string { return strings.TrimSuffix(key.Name.String(), ".") }
