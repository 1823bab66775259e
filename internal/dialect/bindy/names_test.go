package bindy

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestNamesThatNoServiceCanHave(t *testing.T) {
	for _, name := range []string{"a.b", "1a", strings.Repeat("a", 64), "a-"} {
		i := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name},
			Spec: v1beta1.Bind9InstanceSpec{Role: v1beta1.RolePrimary}}
		if _, err := NewServer(i, nil, testSettings); err == nil || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "Service") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
