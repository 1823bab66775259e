package v1alpha1

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// decode reads as a typed client does.
func decode(t *testing.T, text string) runtime.Object {
	t.Helper()
	s := runtime.NewScheme()
	if err := AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(s).WithoutConversion()
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	obj, _, err := codecs.DecoderToVersion(info.Serializer, GroupVersion).Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestOneOddZoneDoesNotBreakTheList(t *testing.T) {
	odd := []string{
		`"spec":{"domainName":"a.","ttl":4294967296,"refresh":1e+30,"retry":-1,"expire":18446744073709551615,"negativeResponseCache":1e2}`,
		`"spec":{"domainName":"","delegations":["a",null,5,[{}],{"zones":"b","records":[1,{"pattern":{}}]},{"namespaces":[1]}]}`,
		`"spec":{"domainName":"a","zoneRef":null,"delegations":null,"ttl":null,"backendRefs":null},"status":null`,
		`"spec":{"domainName":"a","zoneRef":{"name":"b","namespace":null}},"status":{}`,
		`"spec":{"domainName":"a."},"status":{"serial":1e+20,"entries":[{"fqdn":"","type":"","class":"","ttl":1e+20,"rdata":""}],"conditions":null}`,
		`"spec":null`,
		`"other":1`,
	}
	var items []string
	for _, o := range odd {
		items = append(items, `{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"odd","namespace":"a"},`+o+
			`}`)
	}
	obj := decode(t, `{"apiVersion":"kubi.zone/v1alpha1","kind":"ZoneList","items":[`+strings.Join(items, ",")+`]}`)
	list, ok := obj.(*ZoneList)
	if !ok || len(list.Items) != len(odd) {
		t.Fatalf("got %T; want a list of %d Zones", obj, len(odd))
	}
	want := ZoneNumbers{TTL: math.MaxUint32 + 1, Refresh: math.MaxInt64, Retry: -1, Expire: math.MaxInt64,
		NegativeResponseCache: 100}
	if diff := cmp.Diff(want, list.Items[0].Spec.Numbers()); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	for i, d := range list.Items[1].Spec.Delegations {
		if len(d.Problems()) == 0 {
			t.Errorf("delegations[%d] could not be read, and says nothing of it", i)
		}
	}
	if !equality.Semantic.DeepEqual(list, list.DeepCopy()) {
		t.Error("a deep copy is not equal")
	}
}

func TestOneOddRecordDoesNotBreakTheList(t *testing.T) {
	obj := decode(t, `{"apiVersion":"kubi.zone/v1alpha1","kind":"RecordList","items":[
		{"apiVersion":"kubi.zone/v1alpha1","kind":"Record","metadata":{"name":"a"},"spec":{"domainName":"","type":"BOGUS","class":"","ttl":1e+30,"rdata":""},"status":null},
		{"apiVersion":"kubi.zone/v1alpha1","kind":"Record","metadata":{"name":"b"},"spec":{"domainName":"www","zoneRef":{"name":"z","namespace":null},"type":"A","ttl":null,"rdata":"192.0.2.1"}}]}`)
	list, ok := obj.(*RecordList)
	if !ok || len(list.Items) != 2 {
		t.Fatalf("got %T; want a list of 2 Records", obj)
	}
	if ttl := list.Items[0].Spec.TTL; ttl == nil || *ttl != math.MaxInt64 {
		t.Errorf("ttl is %v; want the largest int64", ttl)
	}
	spec := list.Items[1].Spec
	if spec.TTL != nil || spec.ClassOrDefault() != "IN" || spec.ZoneRef.NamespaceOr("own") != "own" {
		t.Errorf("got ttl %v, class %s, namespace of the Zone %s; want none, IN, own", spec.TTL, spec.ClassOrDefault(),
			spec.ZoneRef.NamespaceOr("own"))
	}
}

func TestDefaultsHoldWithoutAnAPIServer(t *testing.T) {
	want := ZoneNumbers{TTL: 360, Refresh: 86400, Retry: 7200, Expire: 3600000, NegativeResponseCache: 360}
	if diff := cmp.Diff(want, (&ZoneSpec{}).Numbers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	zero := Number(0)
	if got := (&ZoneSpec{TTL: &zero}).Numbers().TTL; got != 0 {
		t.Errorf("a ttl of 0 becomes %d", got)
	}
}

func TestTheUnstructuredConverterKeepsUnknownFields(t *testing.T) {
	zone := &Zone{Spec: ZoneSpec{DomainName: "a.", Delegations: []Delegation{{
		Zones:   []string{"b"},
		Records: []RecordDelegation{{Pattern: "@", Unread: Unread{Members: map[string]string{"typs": `["A"]`}}}},
		Unread:  Unread{Members: map[string]string{"namespce": `"a"`}},
	}, {Unread: Unread{Value: `"text"`}}}}}
	zone.CreationTimestamp = metav1.Now().Rfc3339Copy()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(zone)
	if err != nil {
		t.Fatal(err)
	}
	var again Zone
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(zone, &again); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
