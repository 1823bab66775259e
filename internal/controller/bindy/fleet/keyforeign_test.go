package fleet

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestInstancesWhoseSecretIsSomebodyElses has Secrets in the way that lack what pods mount: with them, pods would wait
// forever.
func TestInstancesWhoseSecretIsSomebodyElses(t *testing.T) {
	s := fleetStage(t)
	for _, c := range []struct{ namespace, secret, instance, spec string }{
		{"a", "dns-transfer-key", "dns-x", `role: Primary, clusterRef: dns`},
		{"b", "dns-transfer-key", "dns", `role: Primary, clusterRef: dns`},
		{"c", "ns-transfer-key", "ns", `role: Primary`},
		{"d", "ns-rndc-key", "ns", `role: Primary`},
	} {
		namespace := s.Namespace(c.namespace)
		foreign := &corev1.Secret{ObjectMeta: bindytest.Named(namespace, c.secret),
			StringData: map[string]string{"password": "x"}}
		if err := s.Live.Create(s.Ctx, foreign); err != nil {
			t.Fatal(err)
		}
		s.Apply(bindytest.ClusterManifest, namespace, "dns", "primaryReplicas: 0")
		s.Apply(bindytest.InstanceManifest, namespace, c.instance, c.spec)
		s.IsInstance(namespace, c.instance, "False", "NotOwned", "Secret "+namespace+"/"+c.secret+
			" was not made by the operator", "rename or delete it")
		s.Quiet()
		if d := s.Deployment(namespace, c.instance); d.UID != "" {
			t.Errorf("%s: there are pods that wait for what %s lacks", c.instance, c.secret)
		}
		s.Remove(foreign)
		s.Eventually("pods, when the Secret is out of the way", func() string {
			if s.Deployment(namespace, c.instance).UID == "" {
				return "there are none"
			}
			return ""
		})
		var ours corev1.Secret
		if err := s.Live.Get(s.Ctx, client.ObjectKeyFromObject(foreign), &ours); err != nil ||
			len(ours.OwnerReferences) != 1 || len(ours.Data["password"]) > 0 {
			t.Errorf("%s: the Secret is %v, %v", c.instance, ours.ObjectMeta, err)
		}
	}
}
