package clusters_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
)

var ownerIn = regexp.MustCompile(`external-dns/owner=([^,"]+)`)

// read reads the zone, of which the apex is nobody's.
func (f *federation) read(ctx context.Context) (content, error) {
	sets, err := f.bind.Transfer(ctx, mustName(origin))
	if err != nil {
		return content{}, err
	}
	c := content{data: map[string]string{}, owner: map[string]string{}}
	for _, set := range sets {
		name, below := strings.CutSuffix(set.Name.String(), "."+origin)
		switch {
		case !below:
		case set.Type == rr.TypeTXT:
			if said := ownerIn.FindStringSubmatch(set.Data[0]); said != nil {
				c.owner[strings.TrimPrefix(name, "a-")] = said[1]
			}
		default:
			c.data[name] = strings.Join(set.Data, " ")
		}
	}
	return c, nil
}

func (m *member) record(name, data string) *kubizone.Record {
	return &kubizone.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: kubizone.RecordSpec{DomainName: name + "." + origin, Type: "A", RData: data}}
}

// want makes the Record of a name, or changes it; without data it deletes it.
func (m *member) want(ctx context.Context, name, data string) error {
	r := m.record(name, data)
	if data == "" {
		return client.IgnoreNotFound(m.client.Delete(ctx, r))
	}
	err := m.client.Create(ctx, r)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	patch := fmt.Sprintf(`{"spec":{"rdata":%q}}`, data)
	return m.client.Patch(ctx, m.record(name, ""), client.RawPatch("application/merge-patch+json", []byte(patch)))
}

func (f *federation) wants(m *member, name, data string) {
	f.t.Helper()
	if err := m.want(f.ctx, name, data); err != nil {
		f.t.Fatal(err)
	}
}

// says waits until a condition of a Record has a reason, and its message some words.
func (f *federation) says(m *member, name, kind, reason, words string) {
	f.t.Helper()
	f.await(m.owner+": "+name+" says "+reason, func() string {
		r := m.record(name, "")
		if err := m.client.Get(f.ctx, client.ObjectKeyFromObject(r), r); err != nil {
			return err.Error()
		}
		c := meta.FindStatusCondition(r.Status.Conditions, kind)
		if c == nil || c.Reason != reason || !strings.Contains(c.Message, words) {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
}

// holds waits until the zone is this, and each set is noted as that of the owner whose data it has.
func (f *federation) holds(data map[string]string) {
	f.t.Helper()
	f.await("the zone", func() string {
		c, err := f.read(f.ctx)
		if err != nil {
			return err.Error()
		}
		if wrong := c.differs(data); wrong != "" {
			return wrong
		}
		return f.misowned(c)
	})
}

// address is data from which one sees which cluster asked for it.
func (f *federation) address(m *member, n int) string {
	for i, o := range f.members {
		if o == m {
			return fmt.Sprintf("10.%d.%d.%d", i+1, n/256, n%256)
		}
	}
	return ""
}

// misowned says which set has the data of one cluster and the note of another, or no note, or which note has no set.
func (f *federation) misowned(c content) string {
	for _, name := range names(c.data, c.owner) {
		owner := ""
		for i, m := range f.members {
			if strings.HasPrefix(c.data[name], fmt.Sprintf("10.%d.", i+1)) {
				owner = m.owner
			}
		}
		if c.owner[name] != owner {
			return fmt.Sprintf("%s has the data %q and the note of %q", name, c.data[name], c.owner[name])
		}
	}
	return ""
}

func TestThreeClustersShareAZone(t *testing.T) {
	f := newFederation(t, "one", "two", "three")
	one, two, three := f.members[0], f.members[1], f.members[2]
	held := map[string]string{}
	for _, m := range f.members {
		held[m.owner] = f.address(m, 0)
		f.wants(m, m.owner, held[m.owner])
	}
	f.holds(held)

	// A name that two clusters want is the first one's, until it goes there.
	held["both"] = f.address(one, 1)
	f.wants(one, "both", held["both"])
	f.holds(held)
	f.wants(two, "both", f.address(two, 1))
	f.says(two, "both", "Served", "Owned", `"one"`)
	f.wants(one, "both", "")
	delete(held, "both")
	f.holds(held)
	held["two"] = f.address(two, 2) // another change has the zone read
	f.wants(two, "two", held["two"])
	held["both"] = f.address(two, 1)
	f.holds(held)
	f.says(two, "both", "Served", "Served", "")

	// A change of one cluster is one update, which the others do not answer with theirs.
	before, err := f.bind.Updates(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	held["three"] = f.address(three, 3)
	f.wants(three, "three", held["three"])
	f.holds(held)

	f.changeAtRandom(held)
	if after, err := f.bind.Updates(f.ctx); err != nil || after == before {
		t.Errorf("the server counts %d updates before and %d after: %v", before, after, err)
	}

	// A Zone that is deleted takes along what is its own.
	if err := two.client.Delete(f.ctx, &kubizone.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
		Name: "shared"}}); err != nil {
		t.Fatal(err)
	}
	for name, data := range held {
		if strings.HasPrefix(data, "10.2.") {
			delete(held, name)
		}
	}
	f.holds(held)
}

const (
	changes = 150 // of each cluster
	own     = 12  // names of each cluster that no other wants
	shared  = 6   // names that all want
)

// changeAtRandom has all clusters change Records at the same time, while the zone is read again and again. What is held
// in the end is the caller's map from then on.
func (f *federation) changeAtRandom(held map[string]string) {
	f.t.Helper()
	seed := rand.Uint64()
	f.t.Logf("the seed of the changes is %d", seed)
	ctx, cancel := context.WithCancel(f.ctx)
	var writers, reader sync.WaitGroup
	wanted := make([]map[string]string, len(f.members))
	for i, m := range f.members {
		wanted[i] = map[string]string{}
		writers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for n := range changes {
				name := fmt.Sprintf("%s-%d", m.owner, r.IntN(own))
				if r.IntN(3) == 0 {
					name = fmt.Sprintf("all-%d", r.IntN(shared))
				}
				data := f.address(m, 10+n)
				if r.IntN(3) == 0 {
					data = ""
				}
				if err := m.want(ctx, name, data); err != nil {
					f.t.Errorf("%s: %s: %v", m.owner, name, err)
					return
				}
				wanted[i][name] = data
			}
		})
	}
	read := 0
	reader.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond) // the operators transfer the zone too
		defer tick.Stop()
		for ; ctx.Err() == nil; <-tick.C {
			c, err := f.read(ctx)
			if err != nil {
				continue
			}
			read++
			if wrong := f.misowned(c); wrong != "" {
				f.t.Errorf("while all change: %s", wrong)
				return
			}
		}
	})
	writers.Wait()
	for i, m := range f.members {
		for n := range own {
			name := fmt.Sprintf("%s-%d", m.owner, n)
			if data := wanted[i][name]; data != "" {
				held[name] = data
			}
		}
	}
	looks := 0
	var last content
	f.await("the zone after all changes", func() (wrong string) {
		if looks++; looks%20 == 1 { // that others have let go of a name is found at the next change of one's own
			for _, m := range f.members {
				held[m.owner] = f.address(m, 5000+looks)
				f.wants(m, m.owner, held[m.owner])
			}
		}
		var err error
		if last, err = f.read(f.ctx); err != nil {
			return err.Error()
		}
		return f.unsettled(last, held, wanted)
	})
	cancel()
	reader.Wait()
	f.t.Logf("the zone was read %d times", read)
	maps.Copy(held, last.data)
}

// unsettled says in what the zone is not as the clusters want it: names that all want may be any one's.
func (f *federation) unsettled(c content, held map[string]string, wanted []map[string]string) string {
	for name, data := range held {
		if c.data[name] != data {
			return fmt.Sprintf("%s is %q and should be %q", name, c.data[name], data)
		}
	}
	for name, data := range c.data {
		if strings.HasPrefix(name, "all-") || held[name] != "" {
			continue
		}
		return fmt.Sprintf("%s is %q, and nobody wants it", name, data)
	}
	for n := range shared {
		name := fmt.Sprintf("all-%d", n)
		var by []string
		for i := range f.members {
			if wanted[i][name] != "" {
				by = append(by, wanted[i][name])
			}
		}
		if now := c.data[name]; (now == "") != (len(by) == 0) || now != "" && !strings.Contains(strings.Join(by, " ")+" ",
			now+" ") {
			return fmt.Sprintf("%s is %q, and %v want it", name, now, by)
		}
	}
	return f.misowned(c)
}
