package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	bindydialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// check says which flags have values that nothing can be done with, and which do not go together.
func (o *options) check() error {
	unanswered := !binds(o.dns)
	switch {
	case !unanswered && !o.dialects.has(dialectKubizone):
		return fmt.Errorf(
			"--dns-bind-address needs a dialect with zones to answer for: add %s to --dialects, or set --dns-bind-address=0",
			dialectKubizone)
	case o.externalDNS.on() && unanswered:
		return errors.New(
			"--external-dns-bind-address needs the operator's own name server; also set --dns-bind-address, such as :5353")
	case o.inspects() && !o.admission.on():
		return errors.New(
			"--inspect-bind-address needs the certificate of admission; also set --admission-bind-address, such as :9443")
	case len(o.sources.names) > 0 && !o.dialects.has(dialectKubizone):
		return fmt.Errorf("--source needs Zones that admit names; add %s to --dialects", dialectKubizone)
	}
	if err := errors.Join(o.checkAmounts(), o.checkNames(), o.checkFiles(), o.sources.check()); err != nil {
		return err
	}
	if err := bindydialect.CheckSidecarImage(o.fleet.BindcarImage); err != nil {
		return fmt.Errorf("--bindcar-image: %w; name one of zonefold's", err)
	}
	return nil
}

// mostHistory is how many ZoneRevisions a zone may keep, as in the chart.
const mostHistory = 1000

// checkAmounts says which flags ask for too little or too much.
func (o *options) checkAmounts() error {
	switch {
	case o.maxSet < 0:
		return fmt.Errorf("--max-set-size is %d; it takes a number from 0, which is the usual limit", o.maxSet)
	case o.maxEntries < 0:
		return fmt.Errorf("--max-status-entries is %d; it takes a number from 0, which is as many as fit", o.maxEntries)
	case o.history < 0 || o.history > mostHistory:
		return fmt.Errorf("--history is %d; it takes a number from 0 to %d", o.history, mostHistory)
	case o.audit < time.Second: // as for a Backend
		return fmt.Errorf("--audit-interval is %s; it takes a duration of 1s or more, such as 1h", o.audit)
	}
	return nil
}

// checkNames says which flags name what cannot exist.
func (o *options) checkNames() error {
	namespaces := [][2]string{{"namespace", o.namespace}, {"bindy-namespace", o.fleet.DefaultNamespace}}
	for _, name := range o.secrets {
		namespaces = append(namespaces, [2]string{"secrets-namespaces", name})
	}
	for _, name := range listed(o.credentials) {
		namespaces = append(namespaces, [2]string{"credentials-namespaces", name})
	}
	for _, n := range namespaces {
		if len(validation.IsDNS1123Label(n[1])) > 0 {
			return fmt.Errorf("--%s is %q; it takes the name of a namespace, such as team-a", n[0], n[1])
		}
	}
	if account := o.fleet.ServiceAccount; len(validation.IsDNS1123Subdomain(account)) > 0 {
		return fmt.Errorf("--service-account is %q; it takes the name of a ServiceAccount, such as zonefold-operator",
			account)
	}
	return nil
}

// checkFiles says which flags would do nothing, so that others are let in than somebody has asked for.
func (o *options) checkFiles() error {
	a := &o.admission
	const off = "%s is for admission, which is off; also set --admission-bind-address, such as :9443"
	switch {
	case a.clients != "" && a.clientCA == "":
		return errors.New("--admission-client-names needs the authorities of these clients; also set " +
			"--admission-client-ca-file")
	case a.clients != "" && len(listed(a.clients)) == 0:
		return fmt.Errorf("--admission-client-names is %q, without a name; without the flag, any is accepted", a.clients)
	case a.clientCA != "" && !a.on():
		return fmt.Errorf(off, "--admission-client-ca-file")
	case a.certDir != "" && !a.on():
		return fmt.Errorf(off, "--admission-cert-dir")
	case o.metrics.certDir != "" && !o.metrics.protected:
		return errors.New("--metrics-cert-dir is for protected metrics; also set --metrics-protected")
	case o.externalDNS.certDir != "" && !o.externalDNS.on():
		return errors.New("--external-dns-cert-dir is for the server of external-dns' protocol, which is off; also set " +
			"--external-dns-bind-address, such as :8888")
	}
	return nil
}

// listed returns the words of a list that are separated by commas.
func listed(text string) []string {
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}
