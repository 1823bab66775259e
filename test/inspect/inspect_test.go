package inspect

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestTenantsInspectTheirOwn(t *testing.T) {
	s := newSite(t)
	s.await("the record of tenant a is served at one server, and the other is tried again", func() error {
		found, err := s.inspection("a", "www")
		if err != nil {
			return err
		}
		up, down := server(found, "up"), server(found, "down")
		if up.LastHeard == nil || up.Data == nil || len(*up.Data) != 1 || up.Serial == nil || down.Failures < 2 ||
			down.NextTry == nil {
			return fmt.Errorf("there is %+v", found)
		}
		return nil
	})
	found, err := s.inspection("a", "www")
	s.must(err)
	up, down := server(found, "up"), server(found, "down")
	if up.Server != "dns "+s.bind.Addr() || (*up.Data)[0] != "192.0.2.1" || up.Reason != "" || up.Failures > 0 {
		t.Errorf("the server that is up stands so: %+v", up)
	}
	if down.Since == nil || down.LastHeard != nil || !strings.Contains(down.Message, s.nobody) || down.Data != nil ||
		!down.NextTry.After(down.Since.Time) {
		t.Errorf("the server that is down stands so: %+v", down)
	}
	t.Run("DNSRecords of other dialects are inspected", s.inspectsOthers)
	t.Run("nobody sees what RBAC hides", s.hides)
	t.Run("nobody but the front proxy is believed", s.believesNobody)
	t.Run("the command says it", s.commandSays)
	t.Run("the operator compares servers for those who cannot read them", s.compares)
	t.Run("the operator may change no more of the APIService than its certificates", s.changesNoMore)
	t.Run("without an operator the command says what it cannot know", s.saysWhatItCannotKnow)
}

func (s *site) inspection(namespace, name string) (api.Inspection, error) {
	return s.inspectionAt(namespace, recordPath(namespace, name))
}

func (s *site) inspectionAt(tenant, path string) (found api.Inspection, err error) {
	text, err := s.raw(tenant, path)
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal([]byte(text), &found)
}

// inspectsOthers looks at the DNSRecords of DNSClasses and of Gardener, of which each has one server.
func (s *site) inspectsOthers(t *testing.T) {
	for path, right := range map[string]func(api.Server) bool{
		api.Path("a", "dnsrecords.dns.homelab.mortenolsen.pro", "down"): func(is api.Server) bool {
			return is.Backend == "down" && is.Server == "http://"+s.nobody && is.Failures > 1 && is.Since != nil &&
				is.NextTry.After(is.Since.Time) && is.LastHeard == nil && is.Data == nil && is.Message != ""
		},
		api.Path("a", "dnsrecords.extensions.gardener.cloud", "down"): func(is api.Server) bool {
			return is.Backend == "rfc2136" && is.Failures > 1 && is.Since != nil && is.LastHeard == nil && is.Data == nil &&
				strings.Contains(is.Message, "rror") && is.NextTry.After(is.Since.Time)
		},
		api.Path("a", "dnsrecords.extensions.gardener.cloud", "up"): func(is api.Server) bool {
			return is.Backend == "rfc2136" && is.Failures == 0 && is.LastHeard != nil && is.Data != nil &&
				strings.Join(*is.Data, " ") == "192.0.2.1" && is.Message == ""
		},
	} {
		s.await("it is known what comes of "+path, func() error {
			found, err := s.inspectionAt("a", path)
			if err == nil && (len(found.Servers) != 1 || !right(found.Servers[0])) {
				err = fmt.Errorf("there is %+v", found)
			}
			return err
		})
		if _, err := s.raw("b", path); err == nil || !strings.Contains(err.Error(), "cannot get resource") {
			t.Errorf("tenant b gets %s: %v", path, err)
		}
	}
	for object, wants := range map[string][]string{
		"dnsrecords.dns.homelab.mortenolsen.pro/down": {"  down (http://" + s.nobody + ") has not answered yet; since 2",
			"; the operator tries again at 2"},
		"dnsrecords.extensions.gardener.cloud/down": {" has not answered yet; since 2", "; the operator tries again at 2"},
	} {
		text, _ := s.explain("a", object, "-n", "a")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("explain %s does not say %q:\n%s", object, want, text)
			}
		}
	}
}

func server(found api.Inspection, backend string) api.Server {
	for _, s := range found.Servers {
		if s.Backend == backend {
			return s
		}
	}
	return api.Server{}
}

func (s *site) hides(t *testing.T) {
	for path, want := range map[string]string{
		recordPath("b", "www"):                 `cannot get resource "records" in API group "kubi.zone" in the namespace "b"`,
		recordPath("b", "none"):                `cannot get resource "records" in API group "kubi.zone" in the namespace "b"`,
		api.Path("dns", "zones", "inspect"):    `cannot get resource "zones" in API group "kubi.zone" in the namespace "dns"`,
		recordPath("a", "none"):                `"none" not found`,
		api.Path("a", "secrets", "none"):       `"none" not found`,
		"/apis/" + api.APIVersion + "/records": "forbidden",
	} {
		out, err := s.raw("a", path)
		if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "not find") {
			t.Errorf("tenant a gets %s: %s, %v; it should be refused: %s", path, out, err, want)
		}
	}
	text, err := s.raw("a", recordPath("a", "www"))
	if err != nil || strings.Contains(text, "192.0.2.2") || strings.Contains(text, "www-b") {
		t.Errorf("tenant a is told of b: %s, %v", text, err)
	}
}

func (s *site) believesNobody(t *testing.T) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, at := range []string{"127.0.0.1", "127.0.0.2"} {
		r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "https://"+net.JoinHostPort(at,
			strconv.Itoa(int(s.port)))+recordPath("a", "www"), nil)
		s.must(err)
		r.Header.Set("X-Remote-User", "zonefold-admin")
		r.Header.Set("X-Remote-Group", "system:masters")
		got, err := client.Do(r)
		s.must(err)
		_ = got.Body.Close()
		if got.StatusCode != http.StatusUnauthorized {
			t.Errorf("who says to be a front proxy is answered %s", got.Status)
		}
	}
}

func (s *site) commandSays(t *testing.T) {
	var said struct {
		FQDN    string `json:"fqdn"`
		Servers []struct {
			Backend, Server, LastHeard, Since, NextTry, Error string
			Failures                                          int
			Has, Answers                                      []string
		} `json:"servers"`
	}
	out, code := s.explain("a", "record/www", "-n", "a", "-o", "json")
	if err := json.Unmarshal([]byte(out), &said); err != nil || code != 0 || len(said.Servers) != 2 {
		t.Fatalf("explain ends with %d, %v:\n%s", code, err, out)
	}
	down, up := said.Servers[0], said.Servers[1]
	if down.Server != s.nobody || down.NextTry == "" || down.Since == "" || down.Failures == 0 || down.Error == "" {
		t.Errorf("explain says of the server that is down: %+v", down)
	}
	if up.Server != s.bind.Addr() || up.LastHeard == "" || up.Failures > 0 || strings.Join(up.Has, " ") != "192.0.2.1" ||
		strings.Join(up.Answers, " ") != "192.0.2.1" {
		t.Errorf("explain says of the server that is up: %+v", up)
	}
	text, _ := s.explain("a", "record/www", "-n", "a")
	for _, want := range []string{"  down (" + s.nobody + ") has not answered yet; since 2",
		"; the operator tries again at 2", "  up (" + s.bind.Addr() + ") answered last at 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("explain does not say %q:\n%s", want, text)
		}
	}
}

func (s *site) changesNoMore(t *testing.T) {
	patch := func(spec string) error {
		_, err := s.cluster.RunKubectl(s.ctx, "--as", fmt.Sprintf("system:serviceaccount:%s:%s", testoperator.Namespace,
			testoperator.ServiceAccount), "patch", "apiservice", api.APIService, "--type=merge", "-p", `{"spec":`+spec+`}`)
		return err
	}
	if err := patch(`{"service":{"name":"kubernetes","namespace":"default"}}`); err == nil ||
		!strings.Contains(err.Error(), "says which certificate to trust, and nothing else") {
		t.Errorf("the operator leads the API elsewhere: %v", err)
	}
	if err := patch(`{"groupPriorityMinimum":100}`); err != nil {
		t.Errorf("the operator may not patch its APIService: %v", err)
	}
}

func (s *site) saysWhatItCannotKnow(t *testing.T) {
	s.leader.Kill()
	s.follower.Kill()
	s.await("the command says it", func() error {
		out, code := s.explain("a", "record/www", "-n", "a")
		want := "Not seen: What the operator last heard from servers, since when, and when it tries again: it does not answer"
		if code != 0 || !strings.Contains(out, want) {
			return errors.New(out)
		}
		return nil
	})
	if out, code := s.command("a", "diff", "own.example", "-n", "a"); code != 1 ||
		!strings.Contains(out, "Backend up does not exist, as far as you may see: You may not list backends.") {
		t.Errorf("diff ends with %d: %s", code, out)
	}
	_, err := s.cluster.RunKubectl(s.ctx, "delete", "apiservice", api.APIService)
	s.must(err)
	s.await("the command says that the cluster does not offer it", func() error {
		out, code := s.explain("a", "record/www", "-n", "a")
		if code != 0 || !strings.Contains(out, "the cluster does not offer inspect.zonefold.dev, which inspect.enabled") {
			return errors.New(out)
		}
		return nil
	})
}
