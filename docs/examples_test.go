package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/cli/schema"
	"github.com/zonefold/zonefold/internal/dialect/backends"
	convert "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// marks are the comments by which an example says what becomes of an object: "# refused: NotDelegated", "# warned:
// TTLDiffers". An object without any is accepted, and there is nothing to say about it.
var marks = regexp.MustCompile(`(?m)^# (refused|warned): ([A-Za-z]+)`)

// TestExamplesFold reads every YAML example, checks it as an API server does, and folds each block by itself.
func TestExamplesFold(t *testing.T) {
	checker, err := schema.New(crd.Files)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks("yaml") {
			if !regexp.MustCompile(`(?m)^apiVersion: (kubi\.zone|zonefold\.dev)/`).MatchString(b.text) {
				continue
			}
			count++
			t.Run(fmt.Sprintf("%s:%d", p.path, b.line), func(t *testing.T) {
				f := folding{t: t, checker: checker, world: zone.New(zone.Options{PublicSuffix: convert.PublicSuffix}),
					marks: map[zone.ID][][]string{}, namespaces: map[string]labels.Set{}}
				f.fold(b.text)
				f.holds(p.shown(b))
			})
		}
	}
	if count < 10 {
		t.Errorf("found %d examples, which cannot be all", count)
	}
}

// shown returns the lines that a page shows as the content of zones right below an example, in a block of the language
// "dns".
func (p page) shown(example block) []string {
	after := example.line + strings.Count(example.text, "\n")
	for _, b := range p.blocks("dns") {
		between := strings.Join(strings.Split(p.text, "\n")[after:max(after, b.line-2)], "\n")
		if b.line > after && !strings.Contains(between, "```") {
			return strings.Split(strings.TrimSpace(b.text), "\n")
		}
	}
	return nil
}

// A folding is one block.
type folding struct {
	t          *testing.T
	checker    *schema.Checker
	world      *zone.World
	marks      map[zone.ID][][]string
	namespaces map[string]labels.Set
	backends   []*zonefold.Backend
}

func (f *folding) fold(text string) {
	for document := range strings.SplitSeq(text, "\n---\n") {
		f.put(document)
	}
	for _, b := range f.backends {
		grants, problems := backends.ConvertGrants(b, f.namespaces)
		if len(problems) > 0 {
			f.t.Errorf("Backend %s: %s", b.Name, strings.Join(problems, " "))
		}
		if len(b.Spec.Grants) > 0 {
			f.world.PutGrants(b.Name, grants)
		}
	}
	f.world.Settle()
	for id, marks := range f.marks {
		f.judge(id, marks)
	}
}

// put takes in one object.
func (f *folding) put(document string) {
	f.t.Helper()
	var head struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	if err := yaml.Unmarshal([]byte(document), &head); err != nil {
		f.t.Fatal(err)
	}
	found := marks.FindAllStringSubmatch(document, -1)
	switch head.APIVersion + " " + head.Kind {
	case "kubi.zone/v1alpha1 Zone":
		z := strictly(f.t, document, &kubizone.Zone{})
		for i := range z.Spec.Delegations {
			if problems := z.Spec.Delegations[i].Problems(); len(problems) > 0 && len(found) == 0 {
				f.t.Errorf("Zone %s: %s", z.Name, strings.Join(problems, "; "))
			}
		}
		f.world.PutZone(convert.ConvertZone(z))
		f.marks[convert.ZoneID(z.Namespace, z.Name)] = found
	case "kubi.zone/v1alpha1 Record":
		r := strictly(f.t, document, &kubizone.Record{})
		f.world.PutClaim(convert.ConvertRecord(r))
		f.marks[convert.RecordID(r.Namespace, r.Name)] = found
	case "zonefold.dev/v1alpha1 Backend":
		f.backends = append(f.backends, strictly(f.t, document, &zonefold.Backend{}))
	case "v1 Namespace":
		f.namespaces[head.Name] = strictly(f.t, document, &corev1.Namespace{}).Labels
	case "v1 Secret":
		strictly(f.t, document, &corev1.Secret{})
	default:
		f.t.Fatalf("an example has a %s %s, which this test does not know", head.APIVersion, head.Kind)
	}
	object, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		f.t.Fatal(err)
	}
	violations, err := f.checker.Check(f.t.Context(), head.Kind, head.Namespace, object)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, v := range violations {
		f.t.Errorf("%s %s: the API server would refuse it: %s", head.Kind, head.Name, v)
	}
}

// strictly decodes a document that may have known fields only.
func strictly[T any](t *testing.T, document string, into *T) *T {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		t.Fatal(err)
	}
	return into
}

// holds looks for lines in the zones.
func (f *folding) holds(lines []string) {
	held := map[string]bool{}
	for id := range f.marks {
		if snapshot, ok := f.world.Snapshot(id); ok {
			for set := range snapshot.Sets.All() {
				for _, data := range set.Data {
					held[fmt.Sprintf("%s %d IN %s %s", set.Name, set.TTL, set.Type, data)] = true
				}
			}
		}
	}
	for _, line := range lines {
		if !held[line] {
			f.t.Errorf("no zone holds %s", line)
		}
	}
}

// judge compares what was decided about an object with what its example says.
func (f *folding) judge(id zone.ID, marks [][]string) {
	v, ok := f.world.Verdict(id)
	if !ok {
		f.t.Fatalf("%s has no verdict", id)
	}
	var want, got []string
	for _, m := range marks {
		want = append(want, m[1]+": "+m[2])
	}
	if !v.Accepted {
		got = append(got, "refused: "+string(v.Reason))
	}
	for _, n := range v.Notes {
		// Hardly any example shows the name servers of its Zone.
		if note := "warned: " + string(n.Reason); v.Accepted &&
			(n.Reason != zone.NoNameServers || slices.Contains(want, note)) {
			got = append(got, note)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Errorf("%s: the example says %q, the core %q: %s %v", id, want, got, v.Message, v.Notes)
	}
}
