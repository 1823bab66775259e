package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// credentials makes or replaces a Secret of the operator's namespace.
func (s *scene) credentials(name string, pairs ...string) {
	s.t.Helper()
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testoperator.Namespace, Name: s.prefix + name},
		Data: map[string][]byte{}}
	for i := 0; i < len(pairs); i += 2 {
		o.Data[pairs[i]] = []byte(pairs[i+1])
	}
	err := s.client.Create(s.ctx, o)
	if apierrors.IsAlreadyExists(err) {
		err = s.client.Update(s.ctx, o)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// at waits until a hosted zone has a set with some values, or with none if there are none.
func (s *scene) at(server *route53test.Server, id, name, kind string, want ...string) {
	s.t.Helper()
	s.eventually(name+" "+kind+" in hosted zone "+id, func() string {
		sets, ok := server.Sets(id)
		if !ok {
			return "there is no such hosted zone"
		}
		var got []string
		for _, set := range sets {
			if set.Name == s.text(name) && set.Type == kind {
				got = set.Records
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Sprintf("it is %q, not %q", got, want)
		}
		return ""
	})
}

// route53 is a server with an account and a user, whose key is in the Secret "aws".
func (s *scene) route53() (*route53test.Server, *route53test.Account, *route53test.User) {
	s.t.Helper()
	server, err := route53test.Start(s.ctx, route53test.Options{Now: time.Now, Delay: 200 * time.Millisecond, Rate: 5,
		Burst: 10})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = server.Stop() })
	account := server.NewAccount()
	user := account.NewUser("zonefold")
	s.credentials("aws", "AWS_ACCESS_KEY_ID", user.AccessKeyID, "AWS_SECRET_ACCESS_KEY", user.SecretAccessKey)
	return server, account, user
}

// aws is a Backend for that.
func (s *scene) aws(server *route53test.Server, config string) {
	s.t.Helper()
	s.apply(fmt.Sprintf("backend b: {provider: {type: aws-route53, secretRef: {name: ~aws}, config: {endpoint: %q%s}}}",
		server.URL, comma(config)))
}

func TestProviders(t *testing.T) {
	s := newStage(t)
	t.Cleanup(s.keepsSecrets)
	s.start()

	for _, v := range services(t) {
		s.run("a Zone lives in "+v.name+", beside what others have there, and leaves it as it was", v.livesIn)
	}

	s.run("a restart finds everything as it was, and writes nothing", func(s *scene) {
		server, account, _ := s.route53()
		id := account.AddZone(s.text("example.org"), false)
		s.aws(server, "")
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www", "backend b")
		before, changes := s.get("backend b").GetResourceVersion(), server.Count("ChangeResourceRecordSets")
		s.op.Stop()
		s.start()
		s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.3}`)
		s.at(server, id, "new.example.org.", "A", "192.0.2.3")
		if n := server.Count("ChangeResourceRecordSets") - changes; n != 1 {
			s.t.Errorf("%d batches were sent for one new set", n)
		}
		s.ready("zone a/org", "record a/new")
		if after := s.get("backend b").GetResourceVersion(); after != before {
			s.t.Errorf("the Backend was written to: its version is %s and was %s", after, before)
		}
	})

	s.sideBySide()
	s.run("a Zone lives in Route 53, beside what others have there, and leaves it as it was", func(s *scene) {
		server, account, _ := s.route53()
		private, id := account.AddZone(s.text("example.org"), true), account.AddZone(s.text("example.org"), false)
		ttl := int64(60)
		server.Put(id, route53test.Set{Name: s.text("other.example.org"), Type: "A", TTL: &ttl,
			Records: []string{"192.0.2.99"}})
		s.aws(server, "")
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www", "backend b")
		s.at(server, id, "www.example.org.", "A", "192.0.2.1")
		s.eventually("a Zone that the service has name servers for", func() string {
			if s.hasCond("zone a/org", "Warning", "True NoNameServers") == "" {
				return "it is warned that it has none"
			}
			return ""
		})
		s.apply(www("b", "elsewhere"))
		s.cond("zone a/org", "Warning", "True NoNameServers")
		s.apply(www("b"))
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.apply(`record a/text: {domainName: "*.wild.example.org.", type: TXT, rdata: '"a; b"'}`)
		s.apply(
			`record a/loc: {domainName: loc.example.org., type: LOC, rdata: 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m}`)
		s.at(server, id, "www.example.org.", "A", "192.0.2.2")
		s.at(server, id, `\052.wild.example.org.`, "TXT", `"a; b"`)
		s.cond("record a/loc", "Served", "False Rejected", "has no LOC records")
		s.ready("record a/www", "record a/text")
		s.at(server, private, "www.example.org.", "A")
		s.remove("record a/www")
		s.at(server, id, "www.example.org.", "A")
		s.remove("zone a/org")
		s.gone("zone a/org")
		s.at(server, id, `\052.wild.example.org.`, "TXT")
		s.at(server, id, "other.example.org.", "A", "192.0.2.99")
		if sets, _ := server.Sets(id); len(sets) != 3 {
			s.t.Errorf("the hosted zone has %d sets, not its SOA, its name servers and the foreign one", len(sets))
		}
	})

	s.run("a Zone without a hosted zone says so, and is served as soon as there is one", func(s *scene) {
		server, account, _ := s.route53()
		s.aws(server, "")
		s.apply(www("b"))
		s.cond("zone a/org", "Served", "False NoSuchZone", "reaches no hosted zone example.org.; create it at the service")
		s.cond("record a/www", "Served", "False NoSuchZone")
		id := account.AddZone(s.text("example.org"), false)
		s.ready("zone a/org", "record a/www", "backend b")
		s.at(server, id, "www.example.org.", "A", "192.0.2.1")
		server.RemoveZone(id)
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.cond("zone a/org", "Served", "False NoSuchZone")
		id = account.AddZone(s.text("example.org"), false)
		s.at(server, id, "www.example.org.", "A", "192.0.2.2")
		s.ready("zone a/org", "record a/www")
		server.RemoveZone(id)
		s.remove("zone a/org")
		s.gone("zone a/org")
	})

	s.run("of several hosted zones of one name the one that is named is meant", func(s *scene) {
		server, account, _ := s.route53()
		public, private := account.AddZone(s.text("example.org"), false), account.AddZone(s.text("example.org"), true)
		s.aws(server, "zone: "+private)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		s.at(server, private, "www.example.org.", "A", "192.0.2.1")
		s.at(server, public, "www.example.org.", "A")
		s.aws(server, "zone: Z0000000000")
		s.cond("backend b", "Ready", "False NoSuchZone", "No hosted zone found with ID: Z0000000000")
	})

	s.run("credentials that are wrong, or come to be, are told of, and new ones work at once", func(s *scene) {
		server, account, user := s.route53()
		id := account.AddZone(s.text("example.org"), false)
		right := user.SecretAccessKey
		s.credentials("aws", "AWS_ACCESS_KEY_ID", user.AccessKeyID, "AWS_SECRET_ACCESS_KEY", "not this one")
		s.aws(server, "")
		s.apply(www("b"))
		s.cond("backend b", "Ready", "False InvalidSpec", "AWS_SECRET_ACCESS_KEY has invalid characters")
		s.credentials("aws", "AWS_ACCESS_KEY_ID", user.AccessKeyID, "AWS_SECRET_ACCESS_KEY", "notthisone")
		s.cond("backend b", "Ready", "False NotAuthorised", "SignatureDoesNotMatch")
		s.cond("zone a/org", "Served", "False BackendNotReady", "SignatureDoesNotMatch")
		s.credentials("aws", "AWS_ACCESS_KEY_ID", user.AccessKeyID, "AWS_SECRET_ACCESS_KEY", right+"\n")
		s.cond("backend b", "Ready", "False InvalidSpec", "AWS_SECRET_ACCESS_KEY begins or ends with white space")
		s.credentials("aws", "accessKeyID", user.AccessKeyID, "secretAccessKey", right)
		s.ready("backend b", "zone a/org", "record a/www")
		s.at(server, id, "www.example.org.", "A", "192.0.2.1")

		s.credentials("aws", "accessKeyID", user.AccessKeyID, "secretAccessKey", "notthisone")
		s.cond("backend b", "Ready", "False NotAuthorised", "SignatureDoesNotMatch", "sends nothing to its servers")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.3}`)
		s.cond("zone a/org", "Served", "False BackendNotReady", "SignatureDoesNotMatch")
		s.at(server, id, "www.example.org.", "A", "192.0.2.1")
		s.credentials("aws", "accessKeyID", user.AccessKeyID, "secretAccessKey", right)
		s.at(server, id, "www.example.org.", "A", "192.0.2.3")
		s.ready("backend b", "zone a/org", "record a/www")

		user.Rotate()
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.cond("zone a/org", "Served", "False NotAuthorised", "InvalidClientTokenId")
		s.credentials("aws", "accessKeyID", user.AccessKeyID, "secretAccessKey", user.SecretAccessKey)
		s.at(server, id, "www.example.org.", "A", "192.0.2.2")
		s.ready("backend b", "zone a/org", "record a/www")
		if text := s.log.String(); strings.Contains(text, right) || strings.Contains(text, user.SecretAccessKey) {
			s.t.Error("the log shows a secret")
		}
	})

	s.run("a Zone lives in PowerDNS by a provider's Secret, and two Backends that lead there are one place",
		func(s *scene) {
			server, err := nameserver.StartPowerDNS(s.ctx, s.serverOptions([]string{"example.org."}))
			if err != nil {
				s.t.Fatal(err)
			}
			s.t.Cleanup(server.Close)
			s.credentials("pdns", "server", server.URL, "apiKey", server.APIKey)
			s.secret(testoperator.Namespace, s.prefix+"powerdns", server.APIKey, nil)
			s.apply("backend b: {provider: {type: powerdns, secretRef: {name: ~pdns}}}")
			s.apply(fmt.Sprintf("backend c: {powerdns: {url: %q, secretRef: {name: ~powerdns}}}", server.URL))
			s.apply(www("b", "c"))
			s.ready("zone a/org", "record a/www", "backend b", "backend c")
			s.answersAt(server.Server, "www.example.org. A", "192.0.2.1")
			s.apply(www("b"))
			s.ready("zone a/org", "record a/www")
			s.answersAt(server.Server, "www.example.org. A", "192.0.2.1")
			s.credentials("pdns", "server", server.URL, "apiKey", "wrong")
			s.cond("backend b", "Ready", "False NotAuthorised")
			s.credentials("pdns", "server", server.URL, "apiKey", server.APIKey)
			s.ready("backend b")
			s.remove("zone a/org")
			s.gone("zone a/org")
			s.answersAt(server.Server, "www.example.org. A")
		})

	s.run("what cannot be used says why", func(s *scene) {
		s.apply("backend b: {provider: {type: rout53}}")
		s.cond("backend b", "Ready", "False NotSupported", `the provider type "rout53" is unknown; it must be one of aws-route53`)
		s.apply("backend b: {provider: {type: aws-route53, secretRef: {name: ~lost}}}")
		s.cond("backend b", "Ready", "False SecretNotFound", "Secret zonefold-system/~lost cannot be read")
		s.credentials("half", "AWS_ACCESS_KEY_ID", "AKIA")
		s.apply("backend b: {provider: {type: aws-route53, secretRef: {name: ~half}, config: {endpoit: x}}}")
		s.cond("backend b", "Ready", "False InvalidSpec",
			"the Secret has no value for AWS_SECRET_ACCESS_KEY or secretAccessKey; it has AWS_ACCESS_KEY_ID",
			`"endpoit" is not a setting of this service; there are endpoint`)
	})
}
