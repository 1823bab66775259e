package e2e_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// audience is what a token for the sidecars of a namespace is good for.
func audience(namespace string) string { return "bindcar:" + namespace }

// token asks for one of a ServiceAccount, as kubelet does for the operator's pods.
func (s *site) token(namespace, account string, audiences ...string) string {
	s.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	if err := s.client.SubResource("token").Create(s.ctx, of, request); err != nil {
		s.Fatal(err)
	}
	return request.Status.Token
}

// operatorToken is what the operator shows the sidecars of a namespace.
func (s *site) operatorToken(namespace string) string {
	s.Helper()
	return s.token(testoperator.Namespace, testoperator.ServiceAccount, audience(namespace))
}

// sidecar is a client of the sidecar of an instance, through its Service, as the operator is one.
func (s *site) sidecar(namespace, instance string) *bindcar.Client {
	s.Helper()
	token := s.operatorToken(namespace)
	return &bindcar.Client{
		BaseURL: s.service(namespace, instance).URL(8080),
		Token:   func() (string, error) { return token, nil },
	}
}

// makeZone makes a zone with the address 192.0.2.1 of www on a primary server, which whoever has one of the server's
// keys can change, and waits until it is served.
func (s *site) makeZone(namespace, instance, zone string) {
	s.Helper()
	key := s.key(namespace, instance+"-rndc-key").name
	whole := bindcar.CreateZone{ZoneName: zone, ZoneType: "primary", UpdateKeyName: &key, ZoneConfig: bindcar.ZoneConfig{
		TTL: 60, SOA: bindcar.SOA{PrimaryNS: "ns." + zone + ".", AdminEmail: "admin." + zone + "."},
		NameServers: []string{"ns." + zone + "."}, NameServerIPs: map[string]string{"ns." + zone + ".": "192.0.2.53"},
		Records: []bindcar.Record{{Name: "www", Type: "A", Value: "192.0.2.1"}},
	}}
	if _, err := s.sidecar(namespace, instance).Create(s.ctx, whole); err != nil {
		s.Fatal(err)
	}
	s.resolves(s.service(namespace, instance).At(servicePort), "www."+zone, "192.0.2.1")
}

// An answer is one of the sidecar.
type answer struct {
	status int
	body   string
}

// call sends a request with an Authorization header, if it is not empty.
func (s *site) call(method, url, authorization, body string) answer {
	s.Helper()
	request, err := http.NewRequestWithContext(s.ctx, method, url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{response.StatusCode, string(text)}
}

// standalone makes an instance that is part of nothing, without a limit of requests, and waits until it is ready.
func (s *site) standalone(namespace, name string) {
	s.Helper()
	s.apply(instanceManifest, namespace, name,
		`role: Primary, bindcarConfig: {envVars: [{name: RATE_LIMIT_ENABLED, value: "false"}]}`)
	s.awaitReady(instance(namespace, name))
}

const addZone = `{"zoneType":"primary","zoneConfig":{"ttl":60,"soa":{"primaryNs":"ns.b1.example.","adminEmail":"admin.b1.example."},` +
	`"nameServers":["ns.b1.example."],"nameServerIps":{"ns.b1.example.":"192.0.2.53"},"records":[{"name":"www","type":"A","value":"192.0.2.1"}]}}`

func TestB1TheDocumentsPathsThroughTheService(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.standalone(ns, "lone")
	service := s.service(ns, "lone")
	bearer := "Bearer " + s.operatorToken(ns)
	first, second := service.URL(8080), service.URL(80)
	for _, step := range []struct {
		method, url, body string
		want              int
	}{
		{"POST", first + "/api/addzone/b1.example", addZone, 200},
		{"POST", second + "/api/addzone/b1.example", addZone, 200}, // it exists by now
		{"GET", second + "/api/zonestatus/b1.example", "", 200},
		{"POST", first + "/api/notify/b1.example", "", 200},
		{"GET", second + "/api/v1/zones/b1.example", "", 200},
	} {
		if got := s.call(step.method, step.url, bearer, step.body); got.status != step.want {
			t.Errorf("%s %s: %+v", step.method, step.url, got)
		}
	}
	dns := service.At(servicePort)
	s.resolves(dns, "www.b1.example", "192.0.2.1")
	for range 2 {
		if got := s.call("DELETE", first+"/api/delzone/b1.example", bearer, ""); got.status != 200 {
			t.Errorf("deleting: %+v", got)
		}
	}
	s.resolves(dns, "www.b1.example", "REFUSED")
	for _, open := range []string{"/api/v1/health", "/api/v1/ready", "/metrics"} {
		if got := s.call("GET", first+open, "", ""); got.status != 200 {
			t.Errorf("%s without a token: %+v", open, got)
		}
	}
}

func TestB2WhoMaySpeakToTheSidecar(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.standalone(ns, "lone")
	namesake := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: testoperator.ServiceAccount}}
	if err := s.client.Create(s.ctx, namesake); err != nil {
		t.Fatal(err)
	}
	good := s.operatorToken(ns)
	url := s.service(ns, "lone").URL(8080) + "/api/v1/zones"
	if got := s.call("GET", url, "Bearer "+good, ""); got.status != 200 {
		t.Fatalf("the operator's token: %+v", got)
	}
	head, rest, _ := strings.Cut(good, ".")
	for sentence, authorization := range map[string]string{
		"a token of the operator for the API server": "Bearer " +
			s.token(testoperator.Namespace, testoperator.ServiceAccount),
		"what the operator shows servers of another namespace": "Bearer " + s.operatorToken("other"),
		"a token of the server's own ServiceAccount":           "Bearer " + s.token(ns, "bind9", audience(ns)),
		"a token of a ServiceAccount of that name, but elsewhere": "Bearer " + s.token(ns, testoperator.ServiceAccount,
			audience(ns)),
		"a token that somebody has changed": "Bearer " + head + "." + strings.ToUpper(rest),
		"something else than a token":       "Bearer x",
	} {
		if got := s.call("GET", url, authorization, ""); got != (answer{401, `{"error":"Unauthorized"}`}) {
			t.Errorf("%s: %+v", sentence, got)
		}
	}
	for sentence, authorization := range map[string]string{"no token": "", "another scheme": "Basic " + good,
		"an empty one": "Bearer "} {
		if got := s.call("GET", url, authorization, ""); got.status != 401 {
			t.Errorf("%s: %+v", sentence, got)
		}
	}
	sidecar := s.sidecar(ns, "lone")
	for uid, want := range map[string]error{string(s.pods(ns, "lone")[0].UID): nil, "another": bindcar.ErrMisdirected} {
		sidecar.Pod = uid
		if _, err := sidecar.Zones(s.ctx); !errors.Is(err, want) {
			t.Errorf("a call for the pod %s: %v", uid, err)
		}
	}
}

func TestB3NamesThatAreNone(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.standalone(ns, "lone")
	s.makeZone(ns, "lone", "b3.example")
	bearer, url := "Bearer "+s.operatorToken(ns), s.service(ns, "lone").URL(8080)
	for _, name := range []string{`a\" { type primary; }; zone \"b`, `a;b`, `a\nb`, `../../etc/bind/named`, `a b`, ``} {
		body := strings.Replace(addZone, "{", `{"zoneName":"`+name+`",`, 1)
		if got := s.call("POST", url+"/api/v1/zones", bearer, body); got.status != 400 {
			t.Errorf("%q: %+v", name, got)
		}
	}
	for _, path := range []string{"/api/v1/zones/..%2Fnamed", "/api/delzone/a%22%3B", "/api/zonestatus/a%0Ab"} {
		method := "GET"
		if strings.Contains(path, "delzone") {
			method = "DELETE"
		}
		if got := s.call(method, url+path, bearer, ""); got.status != 400 {
			t.Errorf("%s %s: %+v", method, path, got)
		}
	}
	if zones, err := s.sidecar(ns, "lone").Zones(s.ctx); err != nil || len(zones) != 1 {
		t.Errorf("the zones are %q: %v", zones, err)
	}
	if p := s.pod(ns, "lone"); !isReady(p) {
		t.Error("the pod is not ready afterwards")
	}
}

func TestB4TwiceAndNever(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.standalone(ns, "lone")
	s.makeZone(ns, "lone", "b1.example")
	bearer, url := "Bearer "+s.operatorToken(ns), s.service(ns, "lone").URL(8080)+"/api/v1/zones"
	other := strings.Replace(strings.Replace(addZone, "{", `{"zoneName":"b1.example",`, 1), "192.0.2.1", "192.0.2.99", 1)
	if got := s.call("POST", url, bearer, other); got.status != 409 {
		t.Errorf("a zone that exists: %+v", got)
	}
	dns := s.service(ns, "lone").At(servicePort)
	s.resolves(dns, "www.b1.example", "192.0.2.1")
	for _, path := range []string{"/none.example", "/none.example/status"} {
		if got := s.call("GET", url+path, bearer, ""); got.status != 404 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := s.call("DELETE", url+"/none.example", bearer, ""); got.status != 404 {
		t.Errorf("deleting a zone that is not there: %+v", got)
	}

	// A secondary whose primary does not answer is there and not loaded, and the pod is not ready until it is: no Service
	// leads to it.
	url = "http://" + hostPort(s.podAddress(s.pod(ns, "lone")), 8080) + "/api/v1/zones"
	loading :=
		`{"zoneName":"later.example","zoneType":"secondary","zoneConfig":{"ttl":60,"soa":{"primaryNs":"a.","adminEmail":"a."},` +
			`"nameServers":[],"nameServerIps":{},"primaries":["127.0.0.1:9"]}}`
	if got := s.call("POST", url, bearer, loading); got.status != 201 {
		t.Errorf("a secondary: %+v", got)
	}
	if got := s.call("GET", url+"/later.example/status", bearer, ""); got.status != 200 || !strings.Contains(got.body,
		"not loaded") {
		t.Errorf("the status of a zone that is not loaded: %+v", got)
	}
	if got := s.call("GET", strings.TrimSuffix(url, "zones")+"ready", "", ""); got.status != 503 ||
		!strings.Contains(got.body, "1 of 2 not loaded") {
		t.Errorf("readiness while a zone is not loaded: %+v", got)
	}
	if got := s.call("DELETE", url+"/later.example", bearer, ""); got.status != 200 {
		t.Errorf("deleting it: %+v", got)
	}
	s.awaitReady(instance(ns, "lone"))
}
