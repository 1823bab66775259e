package gardener

import (
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lives are about what happens to an object between its first and its last day.
func lives(t *testing.T) {
	eachProvider(t, "a control plane moves to another seed", func(t *testing.T, p provider) {
		f := newFlow(t, p, "migrate")
		f.deploy()
		g := f.gardenlet()
		if err := g.Migrate(f.ctx); err != nil {
			t.Fatal(err)
		}
		if err := g.WaitMigrate(f.ctx); err != nil {
			t.Fatal(err)
		}
		if o := f.object(); len(o.Finalizers) > 0 {
			t.Errorf("the finalizers %q are left", o.Finalizers)
		}
		f.want("A", "120 192.0.2.1")
		f.destroy()
		f.want("A", "120 192.0.2.1")

		f.ns = newShoot(t, "restored")
		f.values.Namespace = f.ns
		g = f.gardenlet()
		f.values.Values = []string{"192.0.2.2"}
		g.SetValues(f.values.Values)
		if err := g.Restore(f.ctx, &gardencorev1beta1.ShootState{}); err != nil {
			t.Fatal(err)
		}
		if err := g.Wait(f.ctx); err != nil {
			t.Fatal(err)
		}
		f.want("A", "120 192.0.2.2")
		if last := f.object().Status.LastOperation; last.Type != gardencorev1beta1.LastOperationTypeRestore {
			t.Errorf("the last operation is %s", last.Type)
		}
		f.deploy()
		f.destroy()
		f.want("A", "")
	})
	eachProvider(t, "wrong credentials are said to be wrong, and right ones do", func(t *testing.T, p provider) {
		f := newFlow(t, p, "wrong")
		f.secret = p.wrong
		wantCode(t, f.tryDeploy(), gardencorev1beta1.ErrorInfraUnauthenticated)
		f.secret = p.secret
		f.deploy()
		f.want("A", "120 192.0.2.1")
		f.destroy()
		f.want("A", "")
	})
	eachProvider(t, "what was never created goes with wrong credentials", func(t *testing.T, p provider) {
		f := newFlow(t, p, "never")
		f.secret = p.wrong
		wantCode(t, f.tryDeploy(), gardencorev1beta1.ErrorInfraUnauthenticated)
		f.destroy()
	})
	eachProvider(t, "credentials that were rotated are deployed again before the deletion",
		func(t *testing.T, p provider) {
			f := newFlow(t, p, "rotated")
			f.deploy()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: f.values.SecretName}}
			if err := here.client.Delete(f.ctx, secret); err != nil {
				t.Fatal(err)
			}
			f.destroy()
			f.want("A", "")
		})
	eachProvider(t, "a deletion with wrong credentials goes on when they are right", func(t *testing.T, p provider) {
		f := newFlow(t, p, "late")
		f.deploy()
		f.secret = p.wrong
		g := f.gardenlet()
		if err := g.Destroy(f.ctx); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the error is said", func() bool { return f.object().Status.LastError != nil })
		f.want("A", "120 192.0.2.1")
		f.secret = p.secret
		f.destroy()
		f.want("A", "")
	})
	eachProvider(t, "a hosted zone that is gone does not hold up a deletion", func(t *testing.T, p provider) {
		f := newFlow(t, p, "nozone")
		f.deploy()
		f.values.Zone = ptr.To("gone.example.org.") // as if somebody had deleted it
		before := f.object()
		changed := before.DeepCopy()
		changed.Spec.Zone = f.values.Zone
		if err := here.client.Patch(f.ctx, changed, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		f.destroy()
	})
	t.Run("powerdns/a hosted zone is deleted and made again", func(t *testing.T) {
		t.Parallel()
		p := providers()[0]
		// Accounts remember for some seconds that there is no zone: as long as gardenlet really waits.
		const zone = `{"name":"passing.example.","kind":"Native","nameservers":["ns.passing.example."],"soa_edit_api":""}`
		powerdnsCall(t, http.MethodPost, "/zones", zone)
		f := newFlow(t, p, "passing")
		f.speed = 1
		f.values.DNSName = "api.passing.example"
		f.deploy()
		powerdnsCall(t, http.MethodDelete, "/zones/passing.example.", "")
		g := f.gardenlet()
		if err := g.Deploy(f.ctx); err != nil {
			t.Fatal(err)
		}
		wantCode(t, g.Wait(f.ctx), gardencorev1beta1.ErrorConfigurationProblem)
		powerdnsCall(t, http.MethodPost, "/zones", zone)
		f.deploy()
		f.want("A", "120 192.0.2.1")
		powerdnsCall(t, http.MethodDelete, "/zones/passing.example.", "")
		f.destroy()
	})
	eachProvider(t, "an address of the other family is a problem of the configuration", func(t *testing.T, p provider) {
		f := newFlow(t, p, "family")
		f.values.Values = []string{"2001:db8::1"}
		wantCode(t, f.tryDeploy(), gardencorev1beta1.ErrorConfigurationProblem)
		f.values.Values = []string{"192.0.2.1"}
		f.deploy()
		f.want("A", "120 192.0.2.1")
		f.destroy()
	})
	eachProvider(t, "a name in no hosted zone is a problem of the configuration", func(t *testing.T, p provider) {
		f := newFlow(t, p, "nowhere")
		f.values.DNSName = "api.nowhere.example.org"
		wantCode(t, f.tryDeploy(), gardencorev1beta1.ErrorConfigurationProblem)
		f.destroy()
	})
	eachProvider(t, "a failed shoot is left alone", func(t *testing.T, p provider) {
		f := newFlow(t, p, "failed")
		f.deploy()
		before := f.object()
		syncCluster(t, f.ns, &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed})
		f.values.Values = []string{"192.0.2.2"}
		g := f.gardenlet()
		if err := g.Deploy(f.ctx); err != nil {
			t.Fatal(err)
		}
		other := newFlow(t, p, "failed-other")
		other.deploy()
		f.want("A", "120 192.0.2.1")
		if o := f.object(); o.Status.LastOperation.LastUpdateTime != before.Status.LastOperation.LastUpdateTime {
			t.Error("the object of a failed shoot was worked at")
		}
		syncCluster(t, f.ns, &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateProcessing})
		f.deploy()
		f.want("A", "120 192.0.2.2")
		f.destroy()
	})
}

func TestRecordsOfTheGarden(t *testing.T) {
	startOperator(t)
	for _, p := range providers() {
		t.Run(p.name+"/the wildcard of a seed's ingress", func(t *testing.T) {
			f := newFlow(t, p, "seed")
			newNamespace(t, "garden", nil)
			f.ns = "garden"
			f.values.Namespace, f.values.Name, f.values.SecretName = "garden", "seed-ingress", "seed-ingress"
			f.values.DNSName, f.values.ReconcileOnlyOnChangeOrError, f.values.AnnotateOperation = "*.ingress.example.com", true,
				false
			f.deploy()
			p.want(t, "prometheus.ingress.example.com", "A", "120 192.0.2.1")
			f.deploy()
			f.values.RecordType, f.values.Values = typeCNAME, []string{"lb.elsewhere.example"}
			f.deploy()
			p.want(t, "prometheus.ingress.example.com", "CNAME", "120 lb.elsewhere.example.")
			f.destroy()
			p.want(t, "prometheus.ingress.example.com", "CNAME", "")
		})
		t.Run(p.name+"/what gardener-operator makes is of the class garden, with a Secret that is there", func(t *testing.T) {
			newNamespace(t, "garden", nil)
			f := newFlow(t, p, "garden")
			f.ns = "garden"
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "virtual-garden-" + p.name},
				Data: p.secret}
			if err := here.client.Create(f.ctx, secret); err != nil {
				t.Fatal(err)
			}
			f.values.Namespace, f.values.Name, f.values.SecretName = "garden", "api-garden-"+p.name, secret.Name
			f.values.UseExistingSecret, f.values.ReconcileOnlyOnChangeOrError, f.values.AnnotateOperation = true, true, false
			f.values.Class = ptr.To(extensionsv1alpha1.ExtensionClassGarden)
			f.values.Labels = map[string]string{"operator.gardener.cloud/origin": "gardener-operator"}
			f.deploy()
			f.want("A", "120 192.0.2.1")
			f.values.SecretName = "" // it deletes what is stale by its name alone
			f.values.Type, f.values.DNSName = "", f.values.DNSName+""
			f.destroy()
			f.want("A", "")
		})
	}
	t.Run("another class is somebody else's", func(t *testing.T) {
		p := providers()[0]
		f := newFlow(t, p, "class")
		f.values.Type = "aws-route53-of-somebody-else"
		g := f.gardenlet()
		if err := g.Deploy(f.ctx); err != nil {
			t.Fatal(err)
		}
		other := newFlow(t, p, "class-other")
		other.deploy()
		if o := f.object(); o.Status.LastOperation != nil || len(o.Finalizers) > 0 ||
			o.Annotations["gardener.cloud/operation"] == "" {
			t.Errorf("an object of a type that is not ours was touched: %+v", o)
		}
		if err := g.Destroy(f.ctx); err != nil {
			t.Fatal(err)
		}
		if err := here.client.Get(f.ctx, client.ObjectKey{Namespace: f.ns, Name: f.values.Name},
			&extensionsv1alpha1.DNSRecord{}); !apierrors.IsNotFound(err) {
			t.Errorf("it is not gone: %v", err)
		}
	})
}
