package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestH5DeletingAProvider(t *testing.T) {
	for sentence, image := range map[string]string{
		"whose pods run":       "",
		"whose pods never ran": ", image: {image: 'zonefold/none:1', imagePullPolicy: Never}",
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSite(t)
			a, b := s.namespace("a"), s.namespace("b")
			s.apply(providerManifest, s.word, a+","+b, "primaryReplicas: 1, secondaryReplicas: 1"+image)
			if image == "" {
				s.awaitReady(provider(s.word))
			} else {
				s.eventually("there are pods", func() string {
					if n := len(s.pods(a, "")) + len(s.pods(b, "")); n < 4 {
						return fmt.Sprintf("there are %d", n)
					}
					return s.ready(provider(s.word), metav1.ConditionFalse, v1beta1.ReasonNotReady)
				})
			}
			s.eventually("the sidecars may ask who speaks to them", func() string { return s.mayAsk(true, a, b) })
			s.remove(provider(s.word))
			s.eventually("the provider goes", func() string {
				if p := provider(s.word); s.get(p) {
					return fmt.Sprintf("it is there, with the finalizers %v: %+v", p.Finalizers, p.Status.Conditions)
				}
				return ""
			})
			for _, namespace := range s.namespaces {
				s.eventually("everything goes", func() string { return s.isEmpty(namespace) })
			}
			s.eventually("no right is left", func() string { return s.mayAsk(false, a, b) })
			// A finalizer that nobody takes off would hold the namespace.
			for _, namespace := range s.namespaces {
				if err := s.client.Delete(s.ctx, named(&corev1.Namespace{}, "", namespace)); err != nil {
					t.Fatal(err)
				}
				s.eventually("the namespace goes", func() string {
					if s.get(named(&corev1.Namespace{}, "", namespace)) {
						return "it is there"
					}
					return ""
				})
			}
		})
	}
}

// mayAsk says which of the namespaces have, or lack, the right of the sidecars.
func (s *site) mayAsk(want bool, namespaces ...string) string {
	s.Helper()
	binding := must(s, &rbacv1.ClusterRoleBinding{}, "", "zonefold-bindcar")
	has := map[string]bool{}
	for _, subject := range binding.Subjects {
		has[subject.Namespace] = has[subject.Namespace] || subject.Name == "bind9"
	}
	var wrong []string
	for _, namespace := range namespaces {
		if has[namespace] != want {
			wrong = append(wrong, namespace)
		}
	}
	if len(wrong) > 0 {
		return fmt.Sprintf("the binding has %v, which is wrong for %s", has, strings.Join(wrong, ", "))
	}
	return ""
}
