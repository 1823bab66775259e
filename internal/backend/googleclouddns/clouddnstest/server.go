// Package clouddnstest is a server that behaves as Google Cloud DNS does, as far as its documentation tells.
package clouddnstest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	miekg "github.com/miekg/dns"
	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/rr"
)

// Server is the service, with its server of tokens. Its fields are set before it is asked, or under its lock.
type Server struct {
	*httptest.Server
	sync.Mutex
	Document string // of the one service account

	Key      *rsa.PublicKey // that assertions are verified with
	KeyID    string         // of that
	Role     string         // of the service account: "admin", "reader" or ""
	Zones    []*dns.ManagedZone
	Sets     map[string]map[string]*dns.ResourceRecordSet // by zone and key
	Async    int                                          // how often a change has to be asked for until it is done
	Down     bool
	Throttle string // reason for which calls are refused; "" none
	PageMax  int
	Quota    int      // sets in a zone; 0: any number
	Calls    []string // that were made
	Tokens   int      // that were given

	changes map[string]*dns.Change
	polls   map[string]int           // how often a change has still to be asked for
	listing []*dns.ResourceRecordSet // of which pages are given
	mux     *http.ServeMux
}

// Project has all zones.
const Project = "my-project-1"

// NewKey is made once: it takes a while.
var NewKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// firstKey is the ID of the key that the service account has in the beginning.
const firstKey = "k1"

// Document is that of a service account, edited.
func Document(key *rsa.PrivateKey, edit func(map[string]string)) string {
	der, _ := x509.MarshalPKCS8PrivateKey(key)
	d := map[string]string{
		"type": "service_account", "project_id": Project, "private_key_id": firstKey,
		"client_email": "zonefold@my-project-1.iam.example",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":    "http://192.0.2.1/token",
	}
	if edit != nil {
		edit(d)
	}
	b, _ := json.Marshal(d)
	return string(b)
}

// Start starts the service for the time of a test.
func Start(t testing.TB, zones ...*dns.ManagedZone) *Server {
	f := New(zones...)
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// New makes the service without a place where it listens: whoever has it calls ServeHTTP.
func New(zones ...*dns.ManagedZone) *Server {
	key, mux := NewKey(), http.NewServeMux()
	f := &Server{
		Document: Document(key, nil), Key: &key.PublicKey, KeyID: firstKey, Role: "admin", Zones: zones,
		Sets:    map[string]map[string]*dns.ResourceRecordSet{},
		changes: map[string]*dns.Change{}, polls: map[string]int{}, PageMax: 1000, mux: mux,
	}
	for _, z := range zones {
		f.Sets[z.Name] = map[string]*dns.ResourceRecordSet{}
		for _, set := range []*dns.ResourceRecordSet{
			{Name: z.DnsName, Type: "NS", Ttl: 21600, Rrdatas: []string{"ns-cloud-a1.googledomains.com."}},
			{Name: z.DnsName, Type: "SOA", Ttl: 21600, Rrdatas: []string{
				"ns-cloud-a1.googledomains.com. cloud-dns-hostmaster.google.com. 1 21600 3600 259200 300"}},
		} {
			f.Sets[z.Name][set.Name+" "+set.Type] = set
		}
	}
	mux.HandleFunc("POST /token", f.token)
	const base = "/dns/v1/projects/{project}/managedZones"
	mux.HandleFunc("GET "+base, f.api(f.listZones))
	mux.HandleFunc("GET "+base+"/{zone}", f.api(f.getZone))
	mux.HandleFunc("GET "+base+"/{zone}/rrsets", f.api(f.listSets))
	mux.HandleFunc("POST "+base+"/{zone}/changes", f.api(f.create))
	mux.HandleFunc("GET "+base+"/{zone}/changes/{change}", f.api(f.getChange))
	return f
}

// ServeHTTP answers one request.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.Lock()
	defer f.Unlock()
	f.Calls = append(f.Calls, r.Method+" "+r.URL.Path)
	if f.Down {
		panic(http.ErrAbortHandler)
	}
	f.mux.ServeHTTP(w, r)
}

// Rotate has the service account have another key. The former one works no more; tokens that it got do.
func (f *Server) Rotate() {
	f.Lock()
	defer f.Unlock()
	f.KeyID += "R"
	f.Document = Document(NewKey(), func(d map[string]string) { d["private_key_id"] = f.KeyID })
}

// token verifies an assertion (RFC 7523) and gives a token.
func (f *Server) token(w http.ResponseWriter, r *http.Request) {
	deny := func(why string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, why)
	}
	parts := strings.Split(r.FormValue("assertion"), ".")
	if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
		deny("no assertion")
		return
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !f.keyIs(parts[0]) || rsa.VerifyPKCS1v15(f.Key, crypto.SHA256, sum[:], signature) != nil {
		deny("Invalid JWT Signature.")
		return
	}
	f.Tokens++
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`, f.Tokens)
}

// keyIs reports whether the header of an assertion names the key of now.
func (f *Server) keyIs(header string) bool {
	var h struct {
		KeyID string `json:"kid"`
	}
	text, err := base64.RawURLEncoding.DecodeString(header)
	return err == nil && json.Unmarshal(text, &h) == nil && h.KeyID == f.KeyID
}

func fail(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": message,
		"errors": []any{map[string]any{"message": message, "domain": "global", "reason": reason}},
	}})
}

func say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// api asks who calls, and for which zone.
func (f *Server) api(handle func(http.ResponseWriter, *http.Request, *dns.ManagedZone)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, named := r.PathValue("zone"), strings.Count(r.URL.Path, "/") > 5
		i := slices.IndexFunc(f.Zones, func(z *dns.ManagedZone) bool { return z.Name == name })
		switch token := r.Header.Get("Authorization"); {
		case token != fmt.Sprintf("Bearer token-%d", f.Tokens):
			fail(w, 401, "authError", "Invalid Credentials")
		case f.Throttle != "":
			fail(w, 403, f.Throttle, "Queries per minute exceeded.")
		case r.PathValue("project") != Project, f.Role == "", f.Role == "reader" && r.Method == http.MethodPost:
			fail(w, 403, "forbidden", "Forbidden")
		case named && i < 0:
			fail(w, 404, "notFound", "The 'parameters.managedZone' resource named '"+name+"' does not exist.")
		case named:
			handle(w, r, f.Zones[i])
		default:
			handle(w, r, nil)
		}
	}
}

// page cuts a page out of a list.
func page[T any](f *Server, r *http.Request, all []T) (cut []T, next string) {
	size, _ := strconv.Atoi(r.FormValue("maxResults"))
	size = min(size, f.PageMax)
	from, _ := strconv.Atoi(strings.TrimPrefix(r.FormValue("pageToken"), "t"))
	to := min(from+size, len(all))
	if to < len(all) {
		next = fmt.Sprintf("t%d", to)
	}
	return all[from:to], next
}

func (f *Server) listZones(w http.ResponseWriter, r *http.Request, _ *dns.ManagedZone) {
	cut, next := page(f, r, f.Zones)
	say(w, dns.ManagedZonesListResponse{ManagedZones: cut, NextPageToken: next})
}

func (f *Server) getZone(w http.ResponseWriter, _ *http.Request, z *dns.ManagedZone) { say(w, z) }

func (f *Server) listSets(w http.ResponseWriter, r *http.Request, z *dns.ManagedZone) {
	if r.FormValue("pageToken") == "" {
		f.listing = nil
		for _, key := range slices.Sorted(maps.Keys(f.Sets[z.Name])) {
			set := f.Sets[z.Name][key]
			if name := r.FormValue("name"); name == "" || name == set.Name && r.FormValue("type") == set.Type {
				f.listing = append(f.listing, set)
			}
		}
	}
	cut, next := page(f, r, f.listing)
	say(w, dns.ResourceRecordSetsListResponse{Rrsets: cut, NextPageToken: next})
}

func (f *Server) getChange(w http.ResponseWriter, r *http.Request, _ *dns.ManagedZone) {
	change := f.changes[r.PathValue("change")]
	if change == nil {
		fail(w, 404, "notFound", "The 'parameters.changeId' resource does not exist.")
		return
	}
	if f.polls[change.Id]--; f.polls[change.Id] <= 0 {
		change.Status = "done"
	}
	say(w, change)
}

// Truth is what resolvers would be told.
func (f *Server) Truth(t testing.TB, zone string) rr.Sets {
	t.Helper()
	sets, err := f.Answers(zone)
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// Answers is what resolvers would be told.
func (f *Server) Answers(zone string) (rr.Sets, error) {
	f.Lock()
	defer f.Unlock()
	txn := rr.Sets{}.Txn()
	for _, set := range f.Sets[zone] {
		var all []miekg.RR
		for _, data := range set.Rrdatas {
			record, err := miekg.NewRR(fmt.Sprintf("%s %d IN %s %s", set.Name, set.Ttl, set.Type, data))
			if err != nil {
				return rr.Sets{}, fmt.Errorf("reading %s %s: %w", set.Name, set.Type, err)
			}
			all = append(all, record)
		}
		sets, err := rr.FromRRs(all)
		if err != nil {
			return rr.Sets{}, fmt.Errorf("reading %s %s: %w", set.Name, set.Type, err)
		}
		for _, s := range sets {
			if s.Type.Refused() == "" {
				txn.Put(s)
			}
		}
	}
	return txn.Sets(), nil
}
