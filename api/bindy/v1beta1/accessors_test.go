package v1beta1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func number(n int32) *int32 { return &n }

// says reports an error that has not the words that are wanted, or that is none or too many.
func says(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: the error is %v; want %q", name, err, want)
	}
}

func TestTargetNamespaces(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spec  ClusterBind9ProviderSpec
		want  []string
		error string
	}{
		{"none is the fallback", ClusterBind9ProviderSpec{}, []string{"dns-system"}, ""},
		{"a list is sorted, each once", ClusterBind9ProviderSpec{Namespaces: []string{"b", "a", "b"}}, []string{"a", "b"},
			""},
		{"the other form", ClusterBind9ProviderSpec{Namespace: "a"}, []string{"a"}, ""},
		{"both forms agree", ClusterBind9ProviderSpec{Namespace: "a", Namespaces: []string{"a", "a"}}, []string{"a"}, ""},
		{"both forms differ", ClusterBind9ProviderSpec{Namespace: "a", Namespaces: []string{"a", "b"}}, nil,
			"spec.namespace is a, and spec.namespaces lists others"},
	} {
		got, err := tt.spec.TargetNamespaces("dns-system")
		says(t, tt.name, err, tt.error)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReplicas(t *testing.T) {
	spec := CommonSpec{PrimaryReplicas: number(2), Primary: &RoleConfig{Replicas: number(2)},
		Secondary: &RoleConfig{Replicas: number(3)}}
	for _, tt := range []struct {
		name  string
		spec  CommonSpec
		role  Role
		want  int32
		error string
	}{
		{"nobody says how many", CommonSpec{}, RolePrimary, 0, ""},
		{"both forms agree", spec, "Primary", 2, ""},
		{"the existing form alone", spec, "Secondary", 3, ""},
		{"the document's form alone", CommonSpec{SecondaryReplicas: number(4), Secondary: &RoleConfig{}}, RoleSecondary, 4,
			""},
		{"both forms differ", CommonSpec{SecondaryReplicas: number(0), Secondary: &RoleConfig{Replicas: number(1)}},
			RoleSecondary, 0,
			"spec.secondaryReplicas is 0 and spec.secondary.replicas is 1; remove one of the two, or make them equal"},
	} {
		got, err := tt.spec.Replicas(tt.role)
		says(t, tt.name, err, tt.error)
		if got != tt.want {
			t.Errorf("%s: %d replicas; want %d", tt.name, got, tt.want)
		}
	}
}

func TestRotation(t *testing.T) {
	for _, tt := range []struct {
		name  string
		key   *RNDCKeyConfig
		want  time.Duration
		error string
	}{
		{"nothing is said of keys", nil, 0, ""},
		{"it is not switched on", &RNDCKeyConfig{RotateAfter: "1h"}, 0, ""},
		{"the default", &RNDCKeyConfig{AutoRotate: true}, 720 * time.Hour, ""},
		{"hours", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "8760h"}, 8760 * time.Hour, ""},
		{"days", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "30d"}, 720 * time.Hour, ""},
		{"weeks", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "52w"}, 8736 * time.Hour, ""},
		{"too long", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "8761h"}, 0,
			"rotateAfter is \"8761h\"; it must be from 1h to 8760h"},
		{"too short", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "0h"}, 0, "it must be"},
		{"another unit", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "60m"}, 0, "it must be"},
		{"more behind the unit", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "1h30m"}, 0, "it must be"},
		{"no number", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "h"}, 0, "it must be"},
		{"one hour", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "1h"}, time.Hour, ""},
		{"the default, written out", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "720h"}, 720 * time.Hour, ""},
		{"four weeks", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "4w"}, 672 * time.Hour, ""},
		{"a year of days", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "365d"}, 8760 * time.Hour, ""},
		{"too many days", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "366d"}, 0, "it must be"},
		{"too many weeks", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "53w"}, 0, "it must be"},
		{"no unit", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "1"}, 0, "it must be"},
		{"minutes", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "90m"}, 0, "it must be"},
		{"a fraction", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "1.5h"}, 0, "it must be"},
		{"less than none", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "-1h"}, 0, "it must be"},
		{"a space before it", &RNDCKeyConfig{AutoRotate: true, RotateAfter: " 1h"}, 0, "it must be"},
		{"a word behind it", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "1h x"}, 0, "it must be"},
		{"more than numbers hold", &RNDCKeyConfig{AutoRotate: true, RotateAfter: "99999999999w"}, 0, "it must be"},
	} {
		got, err := tt.key.Rotation()
		says(t, tt.name, err, tt.error)
		if got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
}

func TestKeySecret(t *testing.T) {
	ref := func(name string) *RNDCSecretRef { return &RNDCSecretRef{Name: ObjectName(name)} }
	full := ref("a").OrDefault()
	for _, tt := range []struct {
		name, want, error string
		older             *RNDCSecretRef
		key               *RNDCKeyConfig
	}{
		{name: "the operator makes the key", key: &RNDCKeyConfig{}},
		{name: "the older form", older: ref("a"), want: "a"},
		{name: "the newer form", key: &RNDCKeyConfig{SecretRef: ref("b")}, want: "b"},
		{name: "both forms agree, one with its defaults", older: &full, key: &RNDCKeyConfig{SecretRef: ref("a")}, want: "a"},
		{name: "both forms differ", older: ref("a"), key: &RNDCKeyConfig{SecretRef: ref("b")}, error: "rndcSecretRef names " +
			"the Secret a and rndcKey.secretRef b"},
	} {
		got, err := (&Bind9InstanceSpec{RNDCSecretRef: tt.older, RNDCKey: tt.key}).KeySecret()
		ofRole, errOfRole := (&RoleConfig{RNDCSecretRef: tt.older, RNDCKey: tt.key}).KeySecret()
		says(t, tt.name, err, tt.error)
		says(t, tt.name, errOfRole, tt.error)
		if err == nil && (got != ofRole || got != nil && string(got.Name) != tt.want || got == nil && tt.want != "") {
			t.Errorf("%s: %v, of a role %v; want %q", tt.name, got, ofRole, tt.want)
		}
	}
	if got, err := (*RoleConfig)(nil).KeySecret(); got != nil || err != nil {
		t.Errorf("a role of which nothing is said has the Secret %v, %v", got, err)
	}
}
