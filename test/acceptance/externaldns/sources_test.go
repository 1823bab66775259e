package externaldns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/source"
	"sigs.k8s.io/external-dns/source/template"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/apis/v1alpha2"
	gateway "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"
	gatewayfake "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/fake"

	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/zone"
)

// clients are those of fake clusters.
type clients struct {
	source.ClientGenerator
	kube    kubernetes.Interface
	gateway gateway.Interface
}

func (c clients) KubeClient() (kubernetes.Interface, error) { return c.kube, nil }
func (c clients) GatewayClient() (gateway.Interface, error) { return c.gateway, nil }

// gateways has the objects of the Gateway API. A fake cluster does not know the plural of Gateway by itself.
func gateways(t *testing.T, a *author) gateway.Interface {
	c := gatewayfake.NewSimpleClientset()
	api, options := c.GatewayV1(), metav1.CreateOptions{}
	for _, o := range a.routes {
		var err error
		switch o := o.(type) {
		case *gatewayv1.Gateway:
			_, err = api.Gateways(o.Namespace).Create(t.Context(), o, options)
		case *gatewayv1.ListenerSet:
			_, err = api.ListenerSets(o.Namespace).Create(t.Context(), o, options)
		case *gatewayv1.HTTPRoute:
			_, err = api.HTTPRoutes(o.Namespace).Create(t.Context(), o, options)
		case *gatewayv1.GRPCRoute:
			_, err = api.GRPCRoutes(o.Namespace).Create(t.Context(), o, options)
		case *gatewayv1.TLSRoute:
			_, err = api.TLSRoutes(o.Namespace).Create(t.Context(), o, options)
		case *gatewayv1.TCPRoute: // external-dns reads the version before
			_, err = c.GatewayV1alpha2().TCPRoutes(o.Namespace).Create(t.Context(), &v1alpha2.TCPRoute{
				ObjectMeta: o.ObjectMeta, Spec: v1alpha2.TCPRouteSpec{CommonRouteSpec: o.Spec.CommonRouteSpec},
				Status: v1alpha2.TCPRouteStatus{RouteStatus: o.Status.RouteStatus}}, options)
		case *gatewayv1.UDPRoute:
			_, err = c.GatewayV1alpha2().UDPRoutes(o.Namespace).Create(t.Context(), &v1alpha2.UDPRoute{
				ObjectMeta: o.ObjectMeta, Spec: v1alpha2.UDPRouteSpec{CommonRouteSpec: o.Spec.CommonRouteSpec},
				Status: v1alpha2.UDPRouteStatus{RouteStatus: o.Status.RouteStatus}}, options)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// configure has both of us choose the same.
func configure(t *testing.T, a *author) (*source.Config, sources.Options) {
	c := &source.Config{AnnotationFilter: labels.Everything(), LabelFilter: labels.Everything(),
		GatewayListenerSets: true}
	var o sources.Options
	if a.some(3) {
		c.LabelFilter = labels.SelectorFromSet(labels.Set{"app": "a"})
		o.Labels = c.LabelFilter
	}
	if a.some(4) {
		c.IgnoreHostnameAnnotation, o.IgnoreHostnames = true, true
	}
	c.IgnoreIngressTLSSpec, c.IgnoreIngressRulesSpec = a.some(3), a.some(4)
	o.IgnoreTLS, o.IgnoreRules = c.IgnoreIngressTLSSpec, c.IgnoreIngressRulesSpec
	if a.some(4) {
		c.IngressClassNames = []string{"nginx"}
		o.IngressClasses = c.IngressClassNames
	}
	c.PublishInternal, c.PublishHostIP, c.AlwaysPublishNotReadyAddresses = a.some(3), a.some(5), a.some(4)
	o.PublishInternal, o.PublishHostIP = c.PublishInternal, c.PublishHostIP
	o.PublishNotReady = c.AlwaysPublishNotReadyAddresses
	c.ExposeInternalIPv6, c.ExcludeUnschedulable = a.some(3), !a.some(3)
	o.InternalIPv6, o.Unschedulable = c.ExposeInternalIPv6, !c.ExcludeUnschedulable
	if a.some(5) {
		c.ServiceTypeFilter = []string{"LoadBalancer", "NodePort"}
		o.ServiceTypes = []corev1.ServiceType{"LoadBalancer", "NodePort"}
	}
	if a.some(4) {
		c.GatewayLabelFilter = "gate=in"
		o.GatewayLabels = labels.SelectorFromSet(labels.Set{"gate": "in"})
	}
	if a.some(3) {
		text := a.one("{{.Name}}.{{.Namespace}}.example.com",
			`{{if isSource "service"}}s{{else if isSource "gateway-httproute"}}r{{end}}{{.Name}}.{{.Namespace}}.example.com`,
			`{{if eq .Kind "Service"}}svc{{end}}{{.Name}}.{{.Namespace}}.example.com.,x.{{.Name}}.{{.Namespace}}.example.com`)
		combine := a.some(2)
		engine, err := template.NewEngine([]string{text}, nil, nil, combine)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := sources.ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		c.TemplateEngine, o.Template, o.Combine = engine, parsed, combine
	}
	return c, o
}

func TestObjectsAskForWhatExternalDNSMakesOfThem(t *testing.T) {
	for kind, k := range map[string]struct {
		write func(*author, int)
		open  func(context.Context, clients, *source.Config) (source.Source, error)
	}{
		"service": {(*author).service, func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewServiceSource(ctx, c.kube, o)
		}},
		"ingress": {(*author).ingress, func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewIngressSource(ctx, c.kube, o)
		}},
		"node": {(*author).node, func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewNodeSource(ctx, c.kube, o)
		}},
		"httproute": {routes("HTTPRoute"), func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewGatewayHTTPRouteSource(ctx, c, o)
		}},
		"grpcroute": {routes("GRPCRoute"), func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewGatewayGRPCRouteSource(ctx, c, o)
		}},
		"tlsroute": {routes("TLSRoute"), func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewGatewayTLSRouteSource(ctx, c, o)
		}},
		"tcproute": {routes("TCPRoute"), func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewGatewayTCPRouteSource(ctx, c, o)
		}},
		"udproute": {routes("UDPRoute"), func(ctx context.Context, c clients, o *source.Config) (source.Source, error) {
			return source.NewGatewayUDPRouteSource(ctx, c, o)
		}},
	} {
		for seed := range uint64(configurations) {
			t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
				a := &author{Rand: rand.New(rand.NewPCG(seed, 1))}
				if kind == "service" {
					a.makeNodes()
				}
				for i := range worlds {
					k.write(a, i)
				}
				c, o := configure(t, a)
				name := kind // as external-dns calls the source
				if strings.HasSuffix(kind, "route") {
					name = "gateway-" + kind
				}
				var err error
				if c.TemplateEngine, err = c.TemplateEngine.WithSource(name); err != nil {
					t.Fatal(err)
				}
				theirs, err := k.open(t.Context(), clients{kube: fake.NewClientset(a.objects...), gateway: gateways(t, a)}, c)
				if err != nil {
					t.Fatal(err)
				}
				endpoints, err := theirs.Endpoints(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				compare(t, a, o, endpoints)
			})
		}
	}
}

// compare compares what external-dns makes of all objects with what we do, object by object.
func compare(t *testing.T, a *author, o sources.Options, endpoints []*endpoint.Endpoint) {
	inventory := sources.NewInventory(o)
	for _, object := range append(a.objects, a.routes...) {
		inventory.Put(object.(metav1.Object))
	}
	theirs := map[string][]string{}
	for _, e := range endpoints {
		of := e.Labels[endpoint.ResourceLabelKey]
		theirs[of] = append(theirs[of], line(e.DNSName, e.RecordType, int64(e.RecordTTL), e.Targets))
	}
	wrong, some := 0, 0
	for _, object := range a.what {
		id, _ := inventory.IDOf(object)
		of := strings.ToLower(id.Kind) + "/" + object.GetNamespace() + "/" + object.GetName()
		of = strings.Replace(of, "//", "/", 1)
		ours := wished(inventory, id)
		want := theirs[of]
		slices.Sort(want)
		want = slices.Compact(want)
		some += len(want)
		if !slices.Equal(ours, want) && wrong < 3 {
			wrong++
			t.Errorf("%s: we say\n  %s\nand external-dns\n  %s", of, strings.Join(ours, "\n  "), strings.Join(want, "\n  "))
		}
	}
	if some == 0 && !o.IgnoreHostnames {
		t.Error("nobody asks for anything")
	}
}

func wished(inventory *sources.Inventory, id zone.ID) []string {
	w, is := inventory.Wish(id)
	if !is {
		return nil
	}
	merged := map[string]*sources.Endpoint{}
	for _, e := range w.Endpoints {
		e.Host = strings.TrimSuffix(e.Host, ".")
		key := e.Host + " " + e.Type.String()
		if have := merged[key]; have != nil {
			have.Targets = append(have.Targets, e.Targets...)
			continue
		}
		e.Targets = slices.Clone(e.Targets)
		merged[key] = &e
	}
	var out []string
	for _, e := range merged {
		ttl := int64(0)
		if e.TTL != nil {
			ttl = int64(*e.TTL)
		}
		out = append(out, line(e.Host, e.Type.String(), ttl, e.Targets))
	}
	slices.Sort(out)
	return out
}

func line(host, kind string, ttl int64, targets []string) string {
	targets = slices.Clone(targets)
	for i := range targets {
		targets[i] = strings.TrimSuffix(targets[i], ".")
	}
	slices.Sort(targets)
	return fmt.Sprintf("%s %s %d %v", host, kind, ttl, slices.Compact(targets))
}
