package scenario

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// an object in short: its kind, "namespace/name", and its spec.
type object struct {
	kind, namespace, name string
	spec                  map[string]any
}

// objects reads the short form, one object a line and more lines of one indented:
//
//	zone a/root: {domainName: example.org., delegations: [{records: [{pattern: "*"}]}]}
//	record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
func (s *scene) objects(text string) []object {
	s.t.Helper()
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimPrefix(line, "\t\t")
		switch {
		case strings.TrimSpace(line) == "":
		case len(lines) > 0 && strings.HasPrefix(strings.TrimLeft(line, "\t"), " "):
			lines[len(lines)-1] += line
		default:
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	var out []object
	for _, line := range lines {
		head, spec, ok := strings.Cut(line, ": ")
		if !ok {
			s.t.Fatalf("no spec in %q", line)
		}
		o := s.reference(head)
		if err := yaml.Unmarshal([]byte(s.text(spec)), &o.spec); err != nil {
			s.t.Fatalf("reading %q: %v", line, err)
		}
		out = append(out, o)
	}
	return out
}

// reference reads "record a/www" or "backend b".
func (s *scene) reference(ref string) object {
	s.t.Helper()
	kind, where, ok := strings.Cut(ref, " ")
	if !ok {
		s.t.Fatalf("%q names no object", ref)
	}
	namespace, name, namespaced := strings.Cut(where, "/")
	if !namespaced {
		return object{kind: kind, name: s.prefix + where}
	}
	return object{kind: kind, namespace: s.prefix + namespace, name: s.text(name)}
}

func (o object) apiVersion() (group, kind string) {
	switch o.kind {
	case "zone":
		return kubizone.GroupVersion.String(), "Zone"
	case "record":
		return kubizone.GroupVersion.String(), "Record"
	}
	return zonefold.GroupVersion.String(), "Backend"
}

// blank returns an empty object of the kind.
func (o object) blank() client.Object {
	m := metav1.ObjectMeta{Namespace: o.namespace, Name: o.name}
	switch o.kind {
	case "zone":
		return &kubizone.Zone{ObjectMeta: m}
	case "record":
		return &kubizone.Record{ObjectMeta: m}
	}
	return &zonefold.Backend{ObjectMeta: m}
}

// apply makes objects what the text says.
func (s *scene) apply(text string) {
	s.t.Helper()
	for _, o := range s.objects(text) {
		if err := s.put(o); err != nil {
			s.t.Fatal(err)
		}
	}
}

// put applies one object; its namespace is made when it is missing.
func (s *scene) put(o object) error {
	err := s.send(o)
	if apierrors.IsNotFound(err) && o.namespace != "" {
		s.ensureNamespace(o.namespace)
		err = s.send(o)
	}
	if err != nil {
		return fmt.Errorf("applying %s %s/%s: %w", o.kind, o.namespace, o.name, err)
	}
	return nil
}

// send applies one object.
func (s *scene) send(o object) error {
	group, kind := o.apiVersion()
	body, err := json.Marshal(map[string]any{
		"apiVersion": group, "kind": kind, "metadata": map[string]any{"name": o.name}, "spec": o.spec,
	})
	if err != nil {
		return err
	}
	return s.client.Patch(s.ctx, o.blank(), client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("somebody"),
		client.ForceOwnership)
}

// remove deletes objects.
func (s *scene) remove(refs ...string) {
	s.t.Helper()
	for _, ref := range refs {
		if err := s.client.Delete(s.ctx, s.reference(ref).blank()); err != nil {
			s.t.Fatalf("deleting %s: %v", ref, err)
		}
	}
}

// merge patches an object with JSON.
func (s *scene) merge(ref, patch string) {
	s.t.Helper()
	if err := s.client.Patch(s.ctx, s.reference(ref).blank(),
		client.RawPatch(types.MergePatchType, []byte(s.text(patch)))); err != nil {
		s.t.Fatalf("patching %s: %v", ref, err)
	}
}

// secret makes a Secret with one key, "value".
func (s *scene) secret(namespace, name, value string, labels map[string]string) {
	s.t.Helper()
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		StringData: map[string]string{"value": value}}
	err := s.client.Create(s.ctx, o)
	if apierrors.IsNotFound(err) {
		s.ensureNamespace(namespace)
		err = s.client.Create(s.ctx, o)
	}
	if apierrors.IsAlreadyExists(err) {
		err = s.client.Update(s.ctx, o)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// backend makes a Backend for servers that take the key of all tests, with more fields of its spec.
func (s *scene) backend(name, more string, servers ...*nameserver.Server) {
	s.t.Helper()
	s.secret(testoperator.Namespace, s.prefix+"tsig", key.Secret, nil)
	s.apply(fmt.Sprintf("backend %s: {rfc2136: {servers: [%s], tsig: {keyName: zonefold., secretRef: {name: ~tsig}}}%s}",
		name, addresses(servers), comma(more)))
}

func addresses(servers []*nameserver.Server) string {
	var out []string
	for _, server := range servers {
		out = append(out, fmt.Sprintf("%q", server.Addr()))
	}
	return strings.Join(out, ", ")
}

func comma(more string) string {
	if more == "" {
		return ""
	}
	return ", " + more
}

// zone, record and getBackend read objects as they are now.
func (s *scene) zone(where string) *kubizone.Zone {
	s.t.Helper()
	z, _ := s.get("zone " + where).(*kubizone.Zone)
	return z
}

func (s *scene) record(where string) *kubizone.Record {
	s.t.Helper()
	r, _ := s.get("record " + where).(*kubizone.Record)
	return r
}

func (s *scene) get(ref string) client.Object {
	s.t.Helper()
	o := s.reference(ref).blank()
	if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
		s.t.Fatalf("reading %s: %v", ref, err)
	}
	return o
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *kubizone.Zone:
		return o.Status.Conditions
	case *kubizone.Record:
		return o.Status.Conditions
	case *zonefold.Backend:
		return o.Status.Conditions
	}
	return nil
}
