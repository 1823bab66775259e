package attack

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// everything is the chart with all that it has.
const everything = "dialects.bindy=true,dialects.homelab=true,dialects.gardener=true," +
	"gardenerExtension.admission=true,updates=true," +
	"bindy.admission.images={zonefold/},metrics.protected=true,secretsNamespaces={victim,partner,mallory}"

// install applies the chart's rights, policies and configuration of admission, and has the API server ask over
// loopback.
func (s *site) install() {
	s.Helper()
	out, err := testoperator.Template(s.ctx, everything, "rbac.yaml", "serviceaccount.yaml", "webhook.yaml",
		"admission.yaml", "policies.yaml", "bindcar.yaml")
	s.must(err)
	for _, name := range []string{testoperator.Namespace, victim, partner, mallory} {
		s.store(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, o := range objects(strings.TrimPrefix(out, "---\n")) {
		if o.GetKind() != "ValidatingWebhookConfiguration" {
			s.store(o)
			continue
		}
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &c))
		for i := range c.Webhooks {
			url := "https://" + s.admission + *c.Webhooks[i].ClientConfig.Service.Path
			c.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
		}
		s.store(&c)
	}
}
