package gardener

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/dnsrecord"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// usualSpeed is how much faster than gardenlet these tests are: it polls every 5 seconds, takes an error for final from
// the third time on, and waits for two minutes. What is in time for these tests is in time for gardenlet.
const usualSpeed = 10

func nowSeconds() int64 { return time.Now().Unix() }

// A flow is the part of gardenlet that cares for one DNSRecord.
type flow struct {
	t      *testing.T
	ctx    context.Context
	p      provider
	ns     string
	values *dnsrecord.Values
	secret map[string][]byte
	speed  time.Duration // how much faster than gardenlet
}

// newShoot makes the namespace of a shoot, with its Cluster, as gardenlet does.
func newShoot(t *testing.T, name string) string {
	t.Helper()
	ns := fmt.Sprintf("shoot--zf--%s-%06x", name, rand.N(1<<24))
	newNamespace(t, ns, map[string]string{"gardener.cloud/role": "shoot"})
	syncCluster(t, ns, nil)
	return ns
}

func newNamespace(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	err := here.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// syncCluster writes the copy of a Shoot that extensions read.
func syncCluster(t *testing.T, ns string, last *gardencorev1beta1.LastOperation) {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "garden-zf"}}
	shoot.Status.LastOperation = last
	err := extensions.SyncClusterResourceToSeed(t.Context(), here.client, ns, shoot, &gardencorev1beta1.CloudProfile{},
		&gardencorev1beta1.Seed{})
	if err != nil {
		t.Fatal(err)
	}
}

// newFlow begins with an external record of a shoot.
func newFlow(t *testing.T, p provider, name string) *flow {
	t.Helper()
	ns := newShoot(t, name)
	f := &flow{t: t, ctx: t.Context(), p: p, ns: ns, secret: p.secret, speed: usualSpeed, values: &dnsrecord.Values{
		Namespace: ns, Name: "a-external", SecretName: "dnsrecord-a-external", AnnotateOperation: true, Type: p.kind,
		DNSName:    "api." + strings.TrimPrefix(ns, "shoot--zf--") + ".example.com",
		RecordType: extensionsv1alpha1.DNSRecordTypeA, Values: []string{"192.0.2.1"},
	}}
	return f
}

// gardenlet is the component of a new run of gardenlet's flow: it knows nothing of the run before.
func (f *flow) gardenlet() dnsrecord.Interface {
	values := *f.values
	return dnsrecord.New(logr.Discard(), here.client, &values, dnsrecord.DefaultInterval/f.speed,
		dnsrecord.DefaultSevereThreshold/f.speed,
		max(patience/2, dnsrecord.DefaultTimeout/f.speed), dnsrecord.DeploySecretCredentials(f.secret))
}

// deploy has gardenlet deploy the object and wait until it is ready.
func (f *flow) deploy() {
	f.t.Helper()
	if err := f.tryDeploy(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *flow) tryDeploy() error {
	f.t.Helper()
	g := f.gardenlet()
	if err := g.Deploy(f.ctx); err != nil {
		return fmt.Errorf("deploying: %w", err)
	}
	return g.Wait(f.ctx)
}

// destroy has gardenlet delete the object and wait until it is gone.
func (f *flow) destroy() {
	f.t.Helper()
	g := f.gardenlet()
	if err := g.Destroy(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	if err := g.WaitCleanup(f.ctx); err != nil {
		f.t.Fatal(err)
	}
}

// want compares what the server has of the record.
func (f *flow) want(kind, want string) {
	f.t.Helper()
	f.p.want(f.t, f.values.DNSName, kind, want)
}

func (f *flow) object() *extensionsv1alpha1.DNSRecord {
	f.t.Helper()
	o := &extensionsv1alpha1.DNSRecord{}
	if err := here.client.Get(f.ctx, client.ObjectKey{Namespace: f.ns, Name: f.values.Name}, o); err != nil {
		f.t.Fatal(err)
	}
	return o
}

// wantCode compares the codes that gardenlet finds in an error.
func wantCode(t *testing.T, err error, want gardencorev1beta1.ErrorCode) {
	t.Helper()
	codes := v1beta1helper.ExtractErrorCodes(err)
	if err == nil || len(codes) != 1 || codes[0] != want {
		t.Errorf("gardenlet's error is %v with the codes %q, want one with %s", err, codes, want)
	}
}

// eachProvider runs a test once for each service.
func eachProvider(t *testing.T, name string, test func(t *testing.T, p provider)) {
	t.Helper()
	for _, p := range providers() {
		t.Run(p.name+"/"+name, func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}
