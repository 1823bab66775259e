package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	patience   = time.Minute // for a condition
	zone       = "example.com"
	tsigSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

// A site is a BIND with the zone example.com, an operator, and a namespace, all of one test.
type site struct {
	*testing.T
	ctx  context.Context
	live client.Client
	dir  string
	ns   string
	bind *nameserver.Server
	log  *testoperator.Journal
}

func newSite(t *testing.T) *site {
	t.Helper()
	prepare(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	s := &site{T: t, ctx: ctx, live: common.client, dir: t.TempDir(), log: &testoperator.Journal{}}
	ns := &corev1.Namespace{}
	ns.GenerateName = "test-"
	s.must(s.live.Create(ctx, ns))
	s.ns = ns.Name
	var err error
	s.bind, err = nameserver.StartBIND(ctx, nameserver.Options{
		Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parseName(zone)}},
		Keys: []nameserver.TSIG{{Name: parseName("hook"), Algorithm: "hmac-sha256", Secret: tsigSecret}},
	})
	s.must(err)
	t.Cleanup(s.bind.Close)
	t.Cleanup(s.clear)
	return s
}

// operate starts the operator, with flags that come after the usual ones. What fails is tried again soon.
func (s *site) operate(flags ...string) {
	s.Helper()
	for name, value := range map[string]string{
		"DNS_RECORD_RETRY_BASE_DELAY": "100ms", "DNS_RECORD_RETRY_MAX_DELAY": "400ms",
		"DNS_RECORD_RETRY_MAX_ATTEMPTS": "5", "DNS_CLASS_HEALTH_CHECK_INTERVAL": "1s",
	} {
		s.Setenv(name, value)
	}
	p, err := testoperator.Start(testoperator.Options{
		Path: common.operator, Kubeconfig: common.role, Log: s.log, NoElection: true,
		Args: append([]string{"--dialects=homelab"}, flags...),
	})
	s.must(err)
	s.Cleanup(func() {
		p.Kill()
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, "is forbidden: ") {
				s.Errorf("the operator lacks a right: %s", line)
			}
		}
		if s.Failed() {
			text := s.log.String()
			s.Logf("the operator's log ends:\n%s", text[max(0, len(text)-4000):])
		}
	})
}

// hook starts a server of the protocol in front of BIND.
func (s *site) hook(args ...string) *testoperator.Hook {
	s.Helper()
	said := &testoperator.Journal{}
	h, err := testoperator.StartHook(common.hook, said, append([]string{
		"--zone", zone, "--rfc2136", s.bind.Addr(), "--tsig-name", "hook", "--tsig-secret-file", s.file("tsig", tsigSecret),
	}, args...)...)
	s.must(err)
	s.Cleanup(func() {
		h.Stop()
		if s.Failed() {
			text := said.String()
			s.Logf("dnshook's log ends:\n%s", text[max(0, len(text)-2000):])
		}
	})
	return h
}

// file writes a file as a whole, at once.
func (s *site) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	s.must(os.WriteFile(path+".new", []byte(text), 0o600))
	s.must(os.Rename(path+".new", path))
	return path
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// secret makes a Secret, or gives it another value.
func (s *site) secret(name, value string) {
	s.Helper()
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.ns},
		StringData: map[string]string{"key": value}}
	if err := s.live.Create(s.ctx, o); apierrors.IsAlreadyExists(err) {
		s.must(s.live.Patch(s.ctx, o, client.RawPatch("application/merge-patch+json",
			fmt.Appendf(nil, `{"stringData":{"key":%q}}`, value))))
	} else {
		s.must(err)
	}
}

// class makes a DNSClass whose name begins with that of the namespace. Of a call that is not answered it waits for some
// seconds.
func (s *site) class(name, server string, seconds int32, auth *v1alpha1.HMACAuth) {
	s.Helper()
	o := &v1alpha1.DNSClass{ObjectMeta: metav1.ObjectMeta{Name: s.ns + "-" + name}}
	o.Spec = v1alpha1.DNSClassSpec{Server: server, TimeoutSeconds: &seconds, HMACAuth: auth}
	s.must(s.live.Create(s.ctx, o))
}

func (s *site) signed(secret string, algorithm v1alpha1.Algorithm) *v1alpha1.HMACAuth {
	return &v1alpha1.HMACAuth{SecretRef: &v1alpha1.SecretRef{Name: secret, Namespace: s.ns, Key: "key"},
		Algorithm: algorithm}
}

// record is a DNSRecord of a class; what is such as "A www 192.0.2.1 192.0.2.2".
func (s *site) record(name, class, what string) *v1alpha1.DNSRecord {
	o := &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.ns}}
	f := strings.Fields(what)
	o.Spec = v1alpha1.DNSRecordSpec{
		Type: v1alpha1.RecordType(f[0]), Subdomain: f[1], Domain: zone, Values: f[2:],
		DNSClassRef: v1alpha1.DNSClassRef{Name: s.ns + "-" + class},
	}
	return o
}

// ready says what a DNSRecord lacks to be on the server; nothing: "".
func ready(o *v1alpha1.DNSRecord) string {
	c := o.Status.Conditions
	good := len(c) == 1 && c[0].Type == "Ready" && c[0].Status == metav1.ConditionTrue &&
		c[0].ObservedGeneration == o.Generation
	state := o.Status.State == v1alpha1.StateCreated && good && c[0].Reason == "RecordCreated" ||
		o.Status.State == v1alpha1.StateUpdated && good && c[0].Reason == "RecordUpdated"
	fqdn := strings.ToLower(strings.TrimPrefix(o.Spec.Subdomain+"."+o.Spec.Domain, "@."))
	if state && o.Status.Error == nil && o.Status.FQDN == fqdn && o.Status.ObservedGeneration == o.Generation &&
		len(o.Status.Former) == 0 {
		return ""
	}
	text, _ := json.Marshal(o.Status)
	return fmt.Sprintf("%s (generation %d) says %s", o.Name, o.Generation, text)
}

// settled waits until every DNSRecord of the namespace is ready, and returns how many there are.
func (s *site) settled() (n int) {
	s.Helper()
	s.eventually("all DNSRecords are ready", func() error {
		var all v1alpha1.DNSRecordList
		err := s.live.List(s.ctx, &all, client.InNamespace(s.ns))
		n = len(all.Items)
		for i := range all.Items {
			if lack := ready(&all.Items[i]); lack != "" {
				return errors.New(lack)
			}
		}
		return err
	})
	return n
}

// eventually waits until check has nothing to complain of.
func (s *site) eventually(what string, check func() error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	testcluster.Eventually(ctx, s, "waiting until "+what, func() string {
		if err := check(); err != nil {
			return err.Error()
		}
		return ""
	})
}

// clear takes away what would hold an operator of another test up.
func (s *site) clear() {
	ctx := context.WithoutCancel(s.ctx)
	free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	var records v1alpha1.DNSRecordList
	_ = s.live.List(ctx, &records)
	for i := range records.Items {
		_ = s.live.Delete(ctx, &records.Items[i])
		_ = s.live.Patch(ctx, &records.Items[i], free)
	}
	var classes v1alpha1.DNSClassList
	_ = s.live.List(ctx, &classes)
	for i := range classes.Items {
		_ = s.live.Delete(ctx, &classes.Items[i])
		_ = s.live.Patch(ctx, &classes.Items[i], free)
	}
}

func parseName(s string) dnsname.Name {
	n, err := dnsname.Parse(s + ".")
	if err != nil {
		panic(err)
	}
	return n
}
