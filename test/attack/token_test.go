package attack

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// thief speaks with the operator's token.
func (s *site) thief() client.Client {
	s.Helper()
	return s.clientOf(s.token)
}

// policy fails unless a policy of the chart has refused something.
func (s *site) policy(name string, err error) {
	s.Helper()
	s.denied(err, "zonefold-"+name, "the operator of zonefold")
}

func (s *site) steals(text string) error {
	s.Helper()
	o := objects(text)[0]
	err := s.thief().Create(s.ctx, o)
	if err == nil {
		s.Cleanup(func() { s.remove(o) })
	}
	return err
}

// rewrites patches an object with the operator's token.
func (s *site) rewrites(text, patch string) error {
	s.Helper()
	return s.thief().Patch(s.ctx, objects(text)[0], client.RawPatch("application/merge-patch+json", []byte(patch)))
}

const (
	victimsRecord = `{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {namespace: victim, name: www}}`
	victimsSecret = `{apiVersion: v1, kind: Secret, metadata: {namespace: victim, name: dns}}`
	victimsFleet  = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: victim, name: fleet}}`
)

// podOf is a Deployment that looks like one of the operator's, with another part of its Pod.
func podOf(part, container string) string {
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: victim, name: stolen, labels: {app.kubernetes.io/part-of: bindy}}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {
  serviceAccountName: bind9, securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, ` + part + `
  containers: [{name: a, image: zonefold/a, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}` + container + `}}]}}}}`
}

func withTheToken() []attempt {
	return []attempt{{
		aThief, "starts a Pod", "RBAC: it may create only Deployments",
		func(s *site) {
			s.forbidden(
				s.steals(
					`{apiVersion: v1, kind: Pod, metadata: {namespace: victim, name: stolen}, spec: {containers: [{name: a, image: a}]}}`))
		},
	}, {
		aThief, "starts Pods that reach the node, as root, as another ServiceAccount", "the policy `zonefold-workloads`",
		func(s *site) {
			if err := s.thief().Create(s.ctx, objects(podOf("", ""))[0], client.DryRunAll); err != nil {
				s.Fatalf("what the operator itself does is refused: %v", err)
			}
			for _, c := range []struct{ part, container string }{
				{"hostNetwork: true,", ""}, {"hostPID: true,", ""}, {"nodeName: master,", ""},
				{"volumes: [{name: root, hostPath: {path: /}}],", ""}, {"volumes: [{name: root, csi: {driver: a}}],", ""},
				{"initContainers: [{name: b, image: b}],", ""},
				{"", ", runAsUser: 0"}, {"", ", runAsNonRoot: false"}, {"",
					"}, ports: [{containerPort: 53, hostPort: 53}], resources: {"},
			} {
				s.policy("workloads", s.steals(podOf(c.part, c.container)))
			}
			for from, to := range map[string]string{
				"serviceAccountName: bind9,": "", "serviceAccountName: bind9": "serviceAccountName: default",
				"drop: [ALL]":                            "drop: [ALL], add: [SYS_ADMIN]",
				"allowPrivilegeEscalation: false":        "privileged: true",
				"seccompProfile: {type: RuntimeDefault}": "seccompProfile: {type: Unconfined}",
			} {
				s.policy("workloads", s.steals(strings.ReplaceAll(podOf("", ""), from, to)))
			}
		},
	}, {
		aThief, "changes or deletes a Secret of somebody else", "the policy `zonefold-secrets`",
		func(s *site) {
			s.policy("secrets", s.rewrites(victimsSecret, `{"data":{"apiKey":"eA=="}}`))
			s.policy("secrets", s.rewrites(victimsSecret, `{"metadata":{"labels":{"app.kubernetes.io/part-of":"bindy"}}}`))
			s.policy("secrets", s.thief().Delete(s.ctx, objects(victimsSecret)[0]))
		},
	}, {
		aThief, "creates a token of another ServiceAccount through a Secret", "the policy `zonefold-secrets`",
		func(s *site) {
			s.policy("secrets", s.steals(
				`{apiVersion: v1, kind: Secret, metadata: {namespace: victim, name: stolen, labels: {app.kubernetes.io/part-of: bindy}, annotations: {kubernetes.io/service-account.name: default}}, type: kubernetes.io/service-account-token}`))
		},
	}, {
		aThief, "reads the Secrets of a namespace that has nothing to do with DNS", "RBAC: `secretsNamespaces`",
		func(s *site) {
			s.store(objects(`{apiVersion: v1, kind: Namespace, metadata: {name: elsewhere}}`)[0])
			secret :=
				objects(
					`{apiVersion: v1, kind: Secret, metadata: {namespace: elsewhere, name: dns}, stringData: {server: "http://192.0.2.1", apiKey: k}}`)[0]
			s.store(secret)
			s.forbidden(s.thief().Get(s.ctx, client.ObjectKeyFromObject(secret), secret))
			s.forbidden(
				s.steals(
					`{apiVersion: v1, kind: Secret, metadata: {namespace: elsewhere, name: stolen, labels: {app.kubernetes.io/part-of: bindy}}}`))
			for _, o := range objects(`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: elsewhere, name: fleet}, spec: {primaryReplicas: 1}}
---
{apiVersion: extensions.gardener.cloud/v1alpha1, kind: DNSRecord, metadata: {namespace: elsewhere, name: www}, spec: {type: powerdns, secretRef: {name: dns, namespace: elsewhere}, name: www.example.org, recordType: A, values: [192.0.2.1]}}`) {
				s.store(o)
				s.eventually("whoever needs one there hears which value to set", func() string {
					err := s.admin.Get(s.ctx, client.ObjectKeyFromObject(o), o)
					if text := fmt.Sprint(o.Object["status"]); err != nil || !strings.Contains(text, "secretsNamespaces") {
						return fmt.Sprint(o.GetKind(), " says ", text, err)
					}
					return ""
				})
			}
		},
	}, {
		aThief, "changes a name", "the policy `zonefold-specs`",
		func(s *site) {
			s.policy("specs", s.rewrites(victimsRecord, `{"spec":{"rdata":"192.0.2.66"}}`))
			s.policy("specs", s.rewrites(
				`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: victim, name: zone}}`,
				`{"spec":{"delegations":[{"records":[{"pattern":"*"}]}]}}`))
			s.policy("specs", s.rewrites(
				`{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSClass, metadata: {name: victims}}`,
				`{"spec":{"server":"http://192.0.2.66"}}`))
			s.policy("specs", s.rewrites(
				`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: victim, name: zone}}`,
				`{"spec":{"ttl":1}}`))
			s.forbidden(s.rewrites(`{apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: own}}`,
				`{"spec":{"default":false}}`))
		},
	}, {
		aThief, "freezes a Zone, or thaws one", "the policy `zonefold-freezes`",
		func(s *site) {
			for _, annotation := range []string{"freeze", "rollback"} {
				s.policy("freezes", s.rewrites(
					`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: victim, name: zone}}`,
					`{"metadata":{"annotations":{"zonefold.dev/`+annotation+`":"1"}}}`))
				s.policy("freezes", s.rewrites(
					`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: victim, name: zone}}`,
					`{"metadata":{"annotations":{"zonefold.dev/`+annotation+`":"1"}}}`))
			}
		},
	}, {
		aThief, "takes a user's Record for one of dynamic updates", "the policy `zonefold-updates`",
		func(s *site) {
			s.policy("updates", s.rewrites(victimsRecord, `{"metadata":{"labels":{"zonefold.dev/update":"true"}}}`))
			s.policy("updates", s.thief().Delete(s.ctx, objects(victimsRecord)[0]))
			s.policy("updates", s.steals(
				`{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {namespace: victim, name: stolen}, spec: {domainName: stolen.example.org., type: A, rdata: 192.0.2.66}}`))
		},
	}, {
		aThief, "changes or deletes a Bind9Cluster that somebody wrote", "the policy `zonefold-fleets`",
		func(s *site) {
			s.policy("fleets", s.rewrites(victimsFleet, `{"spec":{"image":{"image":"zonefold/evil:1"}}}`))
			s.policy("fleets", s.thief().Delete(s.ctx, objects(victimsFleet)[0]))
		},
	}, {
		aThief, "diverts traffic of others to itself with a Service",
		"the policies `zonefold-services` and `zonefold-children`",
		func(s *site) {
			s.policy("services", s.steals(
				`{apiVersion: v1, kind: Service, metadata: {namespace: victim, name: stolen, labels: {app.kubernetes.io/part-of: bindy}}, spec: {type: ExternalName, externalName: evil.example}}`))
			s.policy("services", s.steals(
				`{apiVersion: v1, kind: Service, metadata: {namespace: victim, name: stolen, labels: {app.kubernetes.io/part-of: bindy}}, spec: {externalIPs: [192.0.2.80], selector: {a: b}, ports: [{port: 80}]}}`))
			shop :=
				`{apiVersion: v1, kind: Service, metadata: {namespace: victim, name: shop}, spec: {selector: {app: shop}, ports: [{port: 80}]}}`
			s.store(objects(shop)[0])
			s.policy("children", s.rewrites(shop, `{"spec":{"selector":{"app":"evil"}}}`))
		},
	}, {
		aThief, "changes a ConfigMap of somebody else", "the policy `zonefold-children`",
		func(s *site) {
			s.policy("children", s.rewrites(
				`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: extension-apiserver-authentication}}`,
				`{"data":{"client-ca-file":"x"}}`))
		},
	}, {
		aThief, "gives the servers' ServiceAccount rights at a cloud provider", "the policy `zonefold-accounts`",
		func(s *site) {
			s.policy("accounts", s.steals(
				`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: partner, name: bind9, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/admin"}}}`))
			s.policy("accounts", s.rewrites(
				`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: victim, name: default}}`,
				`{"imagePullSecrets":[{"name":"x"}]}`))
		},
	}, {
		aThief, "binds roles to itself", "RBAC, and the policy `zonefold-bindings`",
		func(s *site) {
			s.forbidden(
				s.steals(
					`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: stolen}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: []}`))
			s.policy("bindings", s.rewrites(
				`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: zonefold-bindcar}}`,
				`{"subjects":[{"kind":"ServiceAccount","namespace":"mallory","name":"tenant"}]}`))
		},
	}, {
		aThief, "removes the policies", "RBAC: it has no right to them",
		func(s *site) {
			o := objects(
				`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: zonefold-secrets}}`)[0]
			if err := s.thief().Delete(s.ctx, o); !apierrors.IsForbidden(err) {
				s.Errorf("it is answered %v", err)
			}
		},
	}, {
		aThief, "creates tokens of other ServiceAccounts", "RBAC: it may request only its own",
		func(s *site) {
			_, err := s.cluster.RunKubectl(s.ctx, "auth", "can-i", "create", "serviceaccounts", "--subresource=token", "-n",
				victim,
				"--as=system:serviceaccount:"+testoperator.Namespace+":"+testoperator.ServiceAccount)
			if err == nil {
				s.Error("it may")
			}
		},
	}}
}
