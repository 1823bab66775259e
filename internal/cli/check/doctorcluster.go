package check

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// admissionName is what the chart calls what belongs to the admission webhook.
const admissionName = "zonefold-admission"

// certificates looks at the certificates of the webhook, and those that Backends trust.
func (d *doctor) certificates(ctx context.Context) {
	var hooks admissionv1.ValidatingWebhookConfiguration
	err := d.api.Read(ctx, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/zonefold", &hooks)
	switch {
	case apierrors.IsNotFound(err): // no webhook is installed
	case err != nil:
		d.say(doctorUnknown, "ValidatingWebhookConfiguration zonefold", err.Error(), "")
	default:
		for _, w := range hooks.Webhooks {
			if len(w.ClientConfig.CABundle) == 0 {
				d.say(doctorError, "ValidatingWebhookConfiguration zonefold", "its webhook "+w.Name+
					" has no caBundle, so the API server does not call it", "check that the operator runs; it writes the caBundle")
			}
			d.certificate("ValidatingWebhookConfiguration zonefold, webhook "+w.Name, newest(w.ClientConfig.CABundle))
		}
		d.serving(ctx)
	}
	for _, o := range d.Composition.Backends {
		if o.Backend != nil && o.Backend.Spec.PowerDNS != nil {
			d.certificate("Backend "+o.Name+", spec.powerdns.caBundle", []byte(o.Backend.Spec.PowerDNS.CABundle))
		}
	}
}

// serving looks at the certificate that the webhook shows.
func (d *doctor) serving(ctx context.Context) {
	for _, name := range []string{admissionName, admissionName + "-cert-manager"} {
		var s corev1.Secret
		object := "Secret " + d.flags.diff.Operator + "/" + name
		err := d.api.Read(ctx, "/api/v1/namespaces/"+d.flags.diff.Operator+"/secrets/"+name, &s)
		switch {
		case apierrors.IsNotFound(err): // one of the two is there
		case err != nil:
			d.say(doctorUnknown, object, err.Error(), "")
		default:
			d.certificate(object, s.Data[corev1.TLSCertKey])
		}
	}
}

// newest returns the certificate of a bundle that ends last. The operator has those before it trusted until their end,
// and longer, and renews none of them.
func newest(bundle []byte) []byte {
	out, ends := bundle, time.Time{}
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return bundle
		}
		if c.NotAfter.After(ends) {
			out, ends = pem.EncodeToMemory(block), c.NotAfter
		}
	}
	return out
}

// certificate looks at the ages of certificates.
func (d *doctor) certificate(object string, bundle []byte) {
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return
		}
		c, err := x509.ParseCertificate(block.Bytes)
		way := "find out why its owner (the operator, cert-manager or someone else) does not renew it"
		switch {
		case err != nil:
			d.say(doctorError, object, "a certificate in it cannot be read: "+err.Error(), "write a certificate in PEM")
		case d.env.Now.After(c.NotAfter):
			d.say(doctorError, object, "a certificate in it ended at "+c.NotAfter.UTC().Format(time.RFC3339), way)
		case d.env.Now.Before(c.NotBefore):
			d.say(doctorError, object, "a certificate in it begins at "+c.NotBefore.UTC().Format(time.RFC3339),
				"set the clocks by NTP")
		case c.NotAfter.Sub(d.env.Now) < soon && c.NotAfter.Sub(c.NotBefore) > 2*soon:
			d.say(doctorWarning, object, "a certificate in it ends at "+c.NotAfter.UTC().Format(time.RFC3339), way)
		}
	}
}

// quotas looks for ResourceQuotas that are used up, or nearly so.
func (d *doctor) quotas(ctx context.Context) {
	counted := []corev1.ResourceName{"count/zones.kubi.zone", "count/records.kubi.zone", "count/zoneslices.zonefold.dev",
		"count/secrets", "secrets"}
	for _, namespace := range d.zonesOfNamespaces() {
		var list corev1.ResourceQuotaList
		if err := d.api.Read(ctx, "/api/v1/namespaces/"+namespace+"/resourcequotas", &list); err != nil {
			d.say(doctorUnknown, "ResourceQuotas of namespace "+namespace, err.Error(), "")
			continue
		}
		for _, q := range list.Items {
			for _, name := range counted {
				hard, limited := q.Status.Hard[name]
				used := q.Status.Used[name]
				if !limited || used.Value()*10 < hard.Value()*9 {
					continue
				}
				severity := doctorWarning
				if used.Cmp(hard) >= 0 {
					severity = doctorError
				}
				d.say(severity, fmt.Sprintf("ResourceQuota %s/%s", namespace, q.Name),
					fmt.Sprintf("%s of %s of %s are used", used.String(), hard.String(), name),
					"raise the quota, or delete what is not needed: large zones need room for ZoneSlices")
			}
		}
	}
}
