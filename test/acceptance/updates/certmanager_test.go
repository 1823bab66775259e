package updates

import (
	"encoding/json"
	"testing"

	whapi "github.com/cert-manager/cert-manager/pkg/acme/webhook/apis/acme/v1alpha1"
	cmacme "github.com/cert-manager/cert-manager/pkg/apis/acme/v1"
	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/rfc2136"
	"github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/util"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// cert-manager's solver reads its key from the cluster, proves a name and all below it at the same time, and checks by
// itself that both texts are there before it asks for the certificate.
func TestCertManagersSolver(t *testing.T) {
	ctx := t.Context()
	if err := here.Apply(ctx, "{apiVersion: v1, kind: Secret, metadata: {name: update, namespace: default}, "+
		"stringData: {key: "+secret+"}}"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", here.Cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	solver := rfc2136.New(rfc2136.WithNamespace("default"))
	if err := solver.Initialize(config, ctx.Done()); err != nil {
		t.Fatal(err)
	}
	var issuer cmv1.Issuer
	if err := yaml.UnmarshalStrict([]byte(example(t, "cert-manager", "yaml")), &issuer); err != nil {
		t.Fatal(err)
	}
	provider := issuer.Spec.ACME.Solvers[0].DNS01.RFC2136
	for _, protocol := range []cmacme.RFC2136UpdateProtocol{"TCP", "UDP"} {
		provider.Protocol = protocol
		raw, err := json.Marshal(provider)
		if err != nil {
			t.Fatal(err)
		}
		settings := &apiextensionsv1.JSON{Raw: raw}
		const name = "_acme-challenge.www.example.org."
		zone, err := util.FindZoneByFqdn(ctx, name, []string{here.address()})
		if err != nil {
			t.Fatal(err)
		}
		challenge := func(key string) *whapi.ChallengeRequest {
			return &whapi.ChallengeRequest{Type: "dns-01", DNSName: "www.example.org", ResolvedFQDN: name, ResolvedZone: zone,
				ResourceNamespace: "default", Key: key, Config: settings}
		}
		for _, step := range []struct {
			do   func(*whapi.ChallengeRequest) error
			key  string
			want []string
		}{
			{solver.Present, "one", []string{`"one"`}},
			{solver.Present, "two", []string{`"one"`, `"two"`}},
			{solver.Present, "two", []string{`"one"`, `"two"`}},
			{solver.CleanUp, "one", []string{`"two"`}},
			{solver.CleanUp, "one", []string{`"two"`}},
			{solver.CleanUp, "two", nil},
		} {
			if err := step.do(challenge(step.key)); err != nil {
				t.Fatalf("%s over %s: %v", step.key, protocol, err)
			}
			answers(t, name+" TXT", step.want...)
			for _, text := range step.want {
				there, err := util.PreCheckDNS(ctx, name, text[1:len(text)-1], []string{here.address()}, false)
				if err != nil || !there {
					t.Errorf("cert-manager does not find %s: %v", text, err)
				}
			}
		}
	}
	nothingIsLeft(t, "acme", "")
}
