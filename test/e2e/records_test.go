package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// labelled is the manifest of a record with a label that its case's zone selects.
const labelled = `{apiVersion: bindy.firestoned.io/v1beta1, kind: %s, metadata: {namespace: %s, name: %s, labels: {zone: %s}}, spec: {%s}}`

// A zoned is a case about records: it has a zone of its own, on the fleet that many cases share. The zone is that which
// records name by spec.zone, and those with the label zone=<word> are selected by it.
type zoned struct {
	*site
	fleet      fleet
	word, zone string
}

// TestRecords has the cases R1 to R20 that need no fleet of their own.
func TestRecords(t *testing.T) {
	s := newSite(t)
	fleet := s.commonFleet()
	for _, c := range append(kindsOfRecords(), []recordCase{
		{"R9 several values in another order", sameInAnotherOrder},
		{"R10 the TTL alone, and another spelling", ttlAndSpelling},
		{"R11 two objects, one set", twoObjects},
		{"R12 a CNAME beside other data", besideCNAME},
		{"R13 renamed, and moved to another zone", renamedAndMoved},
		{"R14 not selected any more", notSelected},
		{"R14b selected twice", selectedTwice},
		{"R15 a zone that comes after its record", zoneAfterRecord},
		{"R16 what somebody else writes", drift},
		{"R17 what is invalid", invalid},
		{"R19 names and texts of all forms", allForms},
	}...) {
		t.Run(c.sentence, func(t *testing.T) {
			t.Parallel()
			own := *s
			own.T = t
			word, _, _ := strings.Cut(strings.ToLower(c.sentence), " ")
			z := &zoned{&own, fleet, word, word + ".example"}
			t.Cleanup(z.explain)
			c.run(z)
		})
	}
}

type recordCase struct {
	sentence string
	run      func(*zoned)
}

// explain says, if the case failed, what the operator has told and logged about its zone, and who has led meanwhile: a
// new leader does not know what the one before had written.
func (z *zoned) explain() {
	if !z.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(z.ctx), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"get", "lease,pods", "-n", testoperator.Namespace, "-o", "wide"},
		{"get", "events.events.k8s.io", "-n", z.fleet.namespace, "-o",
			`jsonpath={range .items[*]}{.regarding.name} {.related.name} {.reason} {.series.count} {.note}{"\n"}{end}`},
		{"logs", "-n", testoperator.Namespace, "-l", "app.kubernetes.io/name=zonefold-operator", "--prefix", "--tail=-1"},
	} {
		out, err := z.cluster.RunKubectl(ctx, args...)
		var about strings.Builder
		for line := range strings.Lines(out) {
			if args[0] == "get" && args[1] == "lease,pods" || strings.Contains(line, z.zone) || strings.HasPrefix(line, z.word+
				" ") || strings.Contains(line, "leader") {
				about.WriteString(line)
			}
		}
		z.Logf("$ kubectl %s\n%s%v", strings.Join(args, " "), about.String(), err)
	}
}

// makeZone makes the zone of the case, and waits until every server has it.
func (z *zoned) makeZone() {
	z.Helper()
	z.anotherZone(z.word, z.zone)
	z.awaitZone(z.fleet.namespace, z.word)
}

// anotherZone makes a zone on the same servers, which selects the same records.
func (z *zoned) anotherZone(object, zone string) {
	z.Helper()
	z.apply(zoneManifest, z.fleet.namespace, object, zone, fmt.Sprintf(
		"ttl: 120, clusterRef: dns, recordsFrom: [{selector: {matchLabels: {zone: %s}}}]", z.word))
}

// record makes or changes a record that names the zone.
func (z *zoned) record(kind, object, spec string, args ...any) client.Object {
	z.Helper()
	z.apply(recordManifest, kind, z.fleet.namespace, z.word+"-"+object, "zone: "+z.zone+", "+fmt.Sprintf(spec, args...))
	return z.object(kind, object)
}

// selected makes or changes a record that the zone selects.
func (z *zoned) selected(kind, object, spec string, args ...any) client.Object {
	z.Helper()
	z.apply(labelled, kind, z.fleet.namespace, z.word+"-"+object, z.word, fmt.Sprintf(spec, args...))
	return z.object(kind, object)
}

// object is one to read a record into.
func (z *zoned) object(kind, object string) client.Object {
	z.Helper()
	for _, o := range bindy.RecordKinds() {
		if strings.HasSuffix(fmt.Sprintf("%T", o), "."+kind) {
			return named(o, z.fleet.namespace, z.word+"-"+object)
		}
	}
	z.Fatalf("there is no kind %s", kind)
	return nil
}

// full is a name in the zone.
func (z *zoned) full(owner string) string {
	if owner == "@" {
		return z.zone
	}
	return owner + "." + z.zone
}

// serves waits until every server answers as wanted.
func (z *zoned) serves(owner string, rrtype uint16, want string) {
	z.Helper()
	z.allDig(z.fleet.servers, z.full(owner), rrtype, want)
}

// serial is the one under which all servers have the zone.
func (z *zoned) serial() uint32 {
	z.Helper()
	return z.agree(z.fleet.servers, z.zone, z.fleet.key).soa.Serial
}

func statusOf(o client.Object) v1beta1.RecordStatus {
	r, _ := dialect.RecordOf(o)
	return *r.Status
}

// published waits until a record says that every primary has it, as documented, and returns what its status says. The
// zone's object is called like the case.
func (z *zoned) published(o client.Object, owner string) v1beta1.RecordStatus {
	z.Helper()
	z.awaitRecord(o)
	z.isIn(o, z.word, z.zone)
	s := statusOf(o)
	if s.PublishedName != z.full(owner)+"." {
		z.Errorf("%s was published as %q, want %q", o.GetName(), s.PublishedName, z.full(owner)+".")
	}
	if _, err := time.Parse(time.RFC3339, s.LastUpdated); err != nil || len(s.RecordHash) != 64 ||
		s.ObservedGeneration != o.GetGeneration() {
		z.Errorf("the status of %s of generation %d is %+v", o.GetName(), o.GetGeneration(), s)
	}
	return s
}

// isIn complains if a record that was read says that another zone has it.
func (z *zoned) isIn(o client.Object, object, zone string) {
	z.Helper()
	s := statusOf(o)
	want := v1beta1.ZoneReference{APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.KindZone, Name: object,
		Namespace: z.fleet.namespace, ZoneName: zone}
	if s.ZoneRef == nil || *s.ZoneRef != want || s.Zone != zone {
		z.Errorf("%s is in zone %q, %+v, want %+v", o.GetName(), s.Zone, s.ZoneRef, want)
	}
}

// refused waits until a record says that it is not published, why, and nothing else.
func (z *zoned) refused(o client.Object, reason string, texts ...string) {
	z.Helper()
	z.eventually("the refusal of "+o.GetName(), func() string {
		return z.ready(o, metav1.ConditionFalse, reason, texts...)
	})
	if s := statusOf(o); s.ZoneRef != nil || s.Zone != "" || s.PublishedName != "" || s.RecordHash != "" ||
		s.Addresses != "" || s.LastUpdated != "" {
		z.Errorf("%s is refused, and its status has %+v", o.GetName(), s)
	}
}

// younger waits until the clock of objects has gone on: of two that are made within one second neither is the older.
func (s *site) younger(than client.Object) {
	s.Helper()
	s.get(than)
	s.eventually("the next second", func() string {
		if now := time.Now(); now.Unix() <= than.GetCreationTimestamp().Unix() {
			return now.String()
		}
		return ""
	})
}
