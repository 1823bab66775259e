package bindy

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

func refTo(name string) *v1beta1.RNDCSecretRef {
	return &v1beta1.RNDCSecretRef{Name: v1beta1.ObjectName(name)}
}

func TestWhatIsSaidAboutAKey(t *testing.T) {
	rotating := func(after string) *v1beta1.RNDCKeyConfig {
		return &v1beta1.RNDCKeyConfig{AutoRotate: true, RotateAfter: after}
	}
	fleet := v1beta1.CommonSpec{
		Primary:        &v1beta1.RoleConfig{RNDCKey: rotating("2h")},
		Global:         &v1beta1.Bind9Config{RNDCSecretRef: refTo("global")},
		RNDCSecretRefs: []v1beta1.RNDCSecretRef{*refTo("listed"), *refTo("more")},
	}
	cluster := &Parent{Kind: v1beta1.KindCluster, Name: "c", Spec: &fleet}
	listed := &Parent{Kind: v1beta1.KindProvider, Name: "p",
		Spec: &v1beta1.CommonSpec{RNDCSecretRefs: fleet.RNDCSecretRefs}}
	for _, tt := range []struct {
		name   string
		spec   v1beta1.Bind9InstanceSpec
		parent *Parent
		role   v1beta1.Role
		field  string
		secret string
		after  time.Duration
		error  string
	}{
		{name: "nothing is said", role: v1beta1.RolePrimary},
		{name: "the instance says more than its role", spec: v1beta1.Bind9InstanceSpec{RNDCKey: rotating("3h")},
			parent: cluster, role: v1beta1.RolePrimary, field: "spec.rndcKey", after: 3 * time.Hour},
		{name: "the instance wants a made key though its cluster names one",
			spec: v1beta1.Bind9InstanceSpec{RNDCKey: &v1beta1.RNDCKeyConfig{}}, parent: cluster, role: v1beta1.RoleSecondary,
			field: "spec.rndcKey"},
		{name: "the instance in the older form", spec: v1beta1.Bind9InstanceSpec{RNDCSecretRef: refTo("own")},
			parent: cluster, role: v1beta1.RolePrimary, field: "spec.rndcKey", secret: "own"},
		{name: "the instance in its configuration",
			spec: v1beta1.Bind9InstanceSpec{Config: &v1beta1.Bind9Config{RNDCSecretRef: refTo("own")}}, parent: cluster,
			role: v1beta1.RolePrimary, field: "spec.config.rndcSecretRef", secret: "own"},
		{name: "the role", parent: cluster, role: v1beta1.RolePrimary, field: "spec.primary.rndcKey of Bind9Cluster c",
			after: 2 * time.Hour},
		{name: "the cluster, where the role says nothing", parent: cluster, role: v1beta1.RoleSecondary,
			field: "spec.global.rndcSecretRef of Bind9Cluster c", secret: "global"},
		{name: "a list, which is not used", parent: listed, role: v1beta1.RolePrimary},
		{name: "two that differ", spec: v1beta1.Bind9InstanceSpec{RNDCSecretRef: refTo("a"),
			RNDCKey: &v1beta1.RNDCKeyConfig{SecretRef: refTo("b")}}, role: v1beta1.RolePrimary, error: "remove one of the two"},
		{name: "a time that is none", spec: v1beta1.Bind9InstanceSpec{RNDCKey: rotating("5m")}, role: v1beta1.RolePrimary,
			error: "spec.rndcKey: rotateAfter"},
		{name: "an algorithm that is not taken",
			spec: v1beta1.Bind9InstanceSpec{RNDCKey: &v1beta1.RNDCKeyConfig{Algorithm: "hmac-sha1"}}, role: v1beta1.RolePrimary,
			error: "spec.rndcKey: the algorithm hmac-sha1 is no longer accepted"},
	} {
		s := &Server{Instance: &v1beta1.Bind9Instance{Spec: tt.spec}, Parent: tt.parent, Role: tt.role}
		source, err := s.KeySource()
		var settings bind9.Settings
		if err == nil {
			settings, err = source.Settings(bind9.ForOperator)
		}
		if tt.error != "" || err != nil {
			if err == nil || tt.error == "" || !strings.Contains(err.Error(), tt.error) {
				t.Errorf("%s: the error is %v, want %q", tt.name, err, tt.error)
			}
			continue
		}
		secret := ""
		if source.Ref != nil {
			secret = string(source.Ref.Name)
		}
		if source.Field != tt.field || secret != tt.secret || settings.RotateAfter != tt.after {
			t.Errorf("%s: %q names %q, and keys are replaced after %s; want %q, %q, %s", tt.name, source.Field, secret,
				settings.RotateAfter, tt.field, tt.secret, tt.after)
		}
	}
}

func TestTransferKeysFollowTheRoleThatRotatesMostOften(t *testing.T) {
	for _, tt := range []struct {
		name               string
		primary, secondary *v1beta1.RNDCKeyConfig
		want               time.Duration
	}{
		{"nobody rotates", nil, &v1beta1.RNDCKeyConfig{}, 0},
		{"one does", nil, &v1beta1.RNDCKeyConfig{AutoRotate: true, RotateAfter: "1d"}, 24 * time.Hour},
		{"both do", &v1beta1.RNDCKeyConfig{AutoRotate: true, RotateAfter: "1d"},
			&v1beta1.RNDCKeyConfig{AutoRotate: true, RotateAfter: "5h"}, 5 * time.Hour},
	} {
		spec := &v1beta1.CommonSpec{Primary: &v1beta1.RoleConfig{RNDCKey: tt.primary},
			Secondary: &v1beta1.RoleConfig{RNDCKey: tt.secondary}}
		settings, err := TransferSource(spec).Settings(bind9.ForTransfer)
		if err != nil || settings.RotateAfter != tt.want {
			t.Errorf("%s: they are replaced after %s, %v; want %s", tt.name, settings.RotateAfter, err, tt.want)
		}
	}
}

func TestKeysThatSomebodyMade(t *testing.T) {
	const good = "c2l4dGVlbiBvY3RldHMsIG9yIG1vcmU="
	other := v1beta1.RNDCSecretRef{KeyNameKey: "n", SecretKey: "s"}
	for _, tt := range []struct {
		name  string
		meta  metav1.ObjectMeta
		ref   v1beta1.RNDCSecretRef
		data  map[string]string
		want  string
		error string
		never string // in the error
	}{
		{name: "as our own", data: map[string]string{"key-name": "theirs", "secret": good}, want: "theirs"},
		{name: "under other items, in a Secret that is for name servers by its name",
			meta: metav1.ObjectMeta{Name: "bindy-key"}, ref: other, data: map[string]string{"n": "theirs", "s": good},
			want: "theirs"},
		{name: "under other items, in a Secret that is for name servers by its label",
			meta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zonefold.dev/credentials": "true"}},
			ref:  other, data: map[string]string{"n": "theirs", "s": good}, want: "theirs"},
		{name: "credentials of somebody else that could be a key", meta: metav1.ObjectMeta{Name: "database"}, ref: other,
			data:  map[string]string{"n": "admin", "s": good},
			error: "the Secret is not marked as one for name servers", never: "admin"},
		{name: "one item of somebody else that could be both", meta: metav1.ObjectMeta{Name: "database"},
			ref:  v1beta1.RNDCSecretRef{KeyNameKey: "s", SecretKey: "s"},
			data: map[string]string{"s": "c2l4dGVlbiBvY3RldHMsIG9yIG1vcmUh"}, error: "zonefold.dev/credentials", never: "c2l4"},
		{name: "another secret beside the name of a key", meta: metav1.ObjectMeta{Name: "database"},
			ref:  v1beta1.RNDCSecretRef{SecretKey: "password"},
			data: map[string]string{"key-name": "theirs", "password": good}, error: "zonefold.dev/credentials"},
		{name: "another algorithm than the reference says", data: map[string]string{"key-name": "theirs", "secret": good,
			"algorithm": "hmac-sha512"}, error: "make them equal"},
		{name: "SHA-1", ref: v1beta1.RNDCSecretRef{Algorithm: "hmac-sha1"}, data: map[string]string{"key-name": "theirs",
			"secret": good}, error: "use hmac-sha256"},
		{name: "no base64", data: map[string]string{"key-name": "theirs", "secret": "not base64 !"}, error: "is not base64",
			never: "not base64 !"},
		{name: "nothing in it", error: "are missing"},
		{name: "a name that breaks out of quotes", data: map[string]string{"key-name": `a"; };`, "secret": good},
			error: "has the character"},
		{name: "a password of somebody else", meta: metav1.ObjectMeta{Name: "bindy-user"},
			ref:   v1beta1.RNDCSecretRef{KeyNameKey: "password", SecretKey: "user"},
			data:  map[string]string{"password": "hunter2!", "user": "admin"},
			error: "its items password and user are not the name and the secret", never: "hunter2"},
	} {
		secret := &corev1.Secret{ObjectMeta: tt.meta, Data: map[string][]byte{}}
		for item, text := range tt.data {
			secret.Data[item] = []byte(text)
		}
		k, err := KeyIn(secret, tt.ref.OrDefault())
		switch {
		case tt.error != "":
			if err == nil || !strings.Contains(err.Error(), tt.error) ||
				tt.never != "" && strings.Contains(err.Error(), tt.never) {
				t.Errorf("%s: the error is %v, want %q and never %q", tt.name, err, tt.error, tt.never)
			}
		case err != nil || k.Name != tt.want:
			t.Errorf("%s: the key is %v, %v; want %q", tt.name, k, err, tt.want)
		}
	}
}

func TestWhichPodsHaveKeys(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		node   string
		phase  corev1.PodPhase
		ending time.Duration
		want   bool
	}{
		{"it runs", "n", corev1.PodRunning, 0, true},
		{"it is starting on a node", "n", corev1.PodPending, 0, true},
		{"no node has it yet", "", corev1.PodPending, 0, false},
		{"it is over", "n", corev1.PodFailed, 0, false},
		{"it ends within its time", "n", corev1.PodRunning, time.Second, true},
		{"its node is lost", "n", corev1.PodRunning, -time.Second, false},
	} {
		p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: tt.node}, Status: corev1.PodStatus{Phase: tt.phase}}
		if tt.ending != 0 {
			p.DeletionTimestamp = &metav1.Time{Time: now.Add(tt.ending)}
		}
		if got := HasKeys(p, now); got != tt.want {
			t.Errorf("%s: it has keys: %v, want %v", tt.name, got, tt.want)
		}
	}
}
