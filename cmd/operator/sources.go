package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/controller/sources"
	meaning "github.com/zonefold/zonefold/internal/dialect/sources"
)

// sourceOptions are the flags about Services, Ingresses and others that ask for names. They have the names and meanings
// of external-dns' flags, where that has one.
type sourceOptions struct {
	names      nameList
	options    meaning.Options
	classes    nameList
	types      nameList
	cordoned   bool // nodes that are cordoned do not count
	deleteLost bool
}

func sourceFlags(f *flag.FlagSet, o *sourceOptions) {
	o.cordoned = true
	d := &o.options
	f.Var(&o.names, "source", "enabled `sources` of names besides Records, separated by commas: "+
		strings.Join(sources.Names(), ", ")+" (default none)")
	f.Func("on-lost-address", "`what` to do with records when their object no longer has an address: keep or delete "+
		"(default keep)", func(text string) error {
		if o.deleteLost = text == "delete"; text != "keep" && text != "delete" {
			return errors.New("it must be keep or delete")
		}
		return nil
	})
	f.StringVar(&d.Namespace, "source-namespace", "", "`namespace` of the objects to read (default all)")
	f.StringVar(&d.NodeNamespace, "node-namespace", meaning.NodeNamespace,
		"`namespace` to which Zones must delegate the names of Nodes")
	f.Func("label-filter", "label `selector` of the objects to read", selector(&d.Labels))
	f.Func("annotation-filter", "annotation `selector` of the objects to read", selector(&d.Annotations))
	f.Func("fqdn-template", "Go `template` of names, separated by commas, for objects without names",
		func(text string) (err error) {
			d.Template, err = meaning.ParseTemplate(text)
			return err
		})
	f.BoolVar(&d.Combine, "combine-fqdn-annotation", false, "add the names of the template to those of the object")
	f.BoolVar(&d.IgnoreHostnames, "ignore-hostname-annotation", false, "ignore names in annotations")
	f.BoolVar(&d.IgnoreTLS, "ignore-ingress-tls-spec", false, "ignore names in spec.tls of Ingresses")
	f.BoolVar(&d.IgnoreRules, "ignore-ingress-rules-spec", false, "ignore names in spec.rules of Ingresses")
	f.Var(&o.classes, "ingress-class", "`classes` of the Ingresses to read, separated by commas (default all)")
	f.Var(&o.types, "service-type-filter", "`types` of the Services to read, separated by commas (default all)")
	f.BoolVar(&d.PublishInternal, "publish-internal-services", false,
		"publish cluster IPs of Services that have no other address")
	f.BoolVar(&d.PublishHostIP, "publish-host-ip", false, "publish headless Services under addresses of nodes")
	f.BoolVar(&d.PublishNotReady, "always-publish-not-ready-addresses", false,
		"publish headless Services with Pods that are not ready")
	f.BoolVar(&d.InternalIPv6, "expose-internal-ipv6", false, "publish internal IPv6 addresses of nodes as external ones")
	f.BoolVar(&o.cordoned, "exclude-unschedulable", true, "ignore cordoned nodes")
	f.StringVar(&d.GatewayName, "gateway-name", "", "`name` of the Gateways to read (default all)")
	f.StringVar(&d.GatewayNamespace, "gateway-namespace", "", "`namespace` of the Gateways to read (default all)")
	f.Func("gateway-label-filter", "label `selector` of the Gateways to read", selector(&d.GatewayLabels))
	f.Func("target-net-filter", "`networks` of the addresses to publish, separated by commas; excludes targets that are "+
		"names (default all)", networks(&d.Networks))
	f.Func("exclude-target-net", "`networks` of addresses to ignore, separated by commas (default none)",
		networks(&d.NotNetworks))
}

// check completes the options.
func (o *sourceOptions) check() error {
	for _, name := range o.names {
		if !slices.Contains(sources.Names(), name) {
			return fmt.Errorf("--source: there is no source %s; choose from %s", name, strings.Join(sources.Names(), ", "))
		}
	}
	o.options.IngressClasses, o.options.Unschedulable = o.classes, !o.cordoned
	known := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer,
		corev1.ServiceTypeExternalName}
	for _, text := range o.types {
		if !slices.Contains(known, corev1.ServiceType(text)) {
			return fmt.Errorf("--service-type-filter: there is no type %s; choose from %v", text, known)
		}
		o.options.ServiceTypes = append(o.options.ServiceTypes, corev1.ServiceType(text))
	}
	return nil
}

// selector returns what reads a selector, as kubectl does.
func selector(into *labels.Selector) func(string) error {
	return func(text string) error {
		parsed, err := metav1.ParseToLabelSelector(text)
		if err != nil {
			return err
		}
		*into, err = metav1.LabelSelectorAsSelector(parsed)
		return err
	}
}

// networks returns what reads networks, separated by commas or in several flags.
func networks(into *[]netip.Prefix) func(string) error {
	return func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			network, err := netip.ParsePrefix(strings.TrimSpace(word))
			if err != nil {
				return err
			}
			*into = append(*into, network)
		}
		return nil
	}
}

// A nameList is a list, separated by commas or in several flags.
type nameList []string

// String implements flag.Value.
func (w *nameList) String() string { return strings.Join(*w, ",") }

// Set implements flag.Value.
func (w *nameList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*w = append(*w, word)
		}
	}
	return nil
}

// asked is how sources are read: from a cache of their own, for which nobody else waits. It fills before the operator
// leads, as far as it can.
func (p *parts) asked() (sources.Config, error) {
	objects, c, err := p.cached(cache.Options{
		DefaultTransform: kubizone.Compact(), DefaultWatchErrorHandler: p.blind.handle})
	if err != nil {
		return sources.Config{}, err
	}
	catchUp, err := p.catchUp(objects, c)
	if err != nil {
		return sources.Config{}, err
	}
	out := sources.Config{
		Cache: objects, CatchUp: catchUp,
		Events: p.GetEventRecorder("zonefold"), Log: p.log, Sources: p.sources.names, Options: p.sources.options,
		DeleteLost: p.sources.deleteLost, Unread: p.blind.tell,
	}
	return out, p.Add(everywhere{func(ctx context.Context) error {
		sources.Warm(ctx, out)
		return nil
	}})
}
