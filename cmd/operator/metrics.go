package main

import (
	"flag"

	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsOptions are the flags about metrics.
type metricsOptions struct {
	address   string
	protected bool
	certDir   string
}

func metricsFlags(f *flag.FlagSet, o *metricsOptions) {
	f.StringVar(&o.address, "metrics-bind-address", ":8080", "`address` of the Prometheus metrics; 0 turns them off")
	f.BoolVar(&o.protected, "metrics-protected", false, "serve metrics only over HTTPS, and only to tokens that may get "+
		"/metrics; the operator then needs the rights to create TokenReviews and SubjectAccessReviews")
	f.StringVar(&o.certDir, "metrics-cert-dir", "", "`folder` with tls.crt and tls.key of protected metrics, which are "+
		"read again when they change (default: a self-signed certificate, made at each start)")
}

// server says how metrics are served. A token goes over HTTPS alone.
func (o metricsOptions) server() metricsserver.Options {
	options := metricsserver.Options{BindAddress: o.address}
	if o.protected {
		options.SecureServing, options.CertDir, options.FilterProvider = true, o.certDir,
			filters.WithAuthenticationAndAuthorization
	}
	return options
}
