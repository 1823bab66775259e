package inspect

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
)

// maxServers is how many servers an answer has: a zone may be on the pods of many clusters.
const maxServers = 256

// inspectionOf puts what is known of an object into the words of the API.
func inspectionOf(namespace, name string, found delivery.Inspected) api.Inspection {
	out := api.Inspection{
		TypeMeta:   metav1.TypeMeta{Kind: api.Kind, APIVersion: api.APIVersion},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Servers:    []api.Server{},
	}
	if !found.Zone.IsZero() {
		out.Zone = found.Zone.String()
	}
	for _, s := range found.Servers[:min(len(found.Servers), maxServers)] {
		one := api.Server{
			Backend: s.Place, Server: s.Server, Reason: s.Reason, Message: s.Message, LastHeard: at(s.Heard), Since: at(s.Since),
			Failures: s.Failures, NextTry: at(s.Next), Running: s.Running,
		}
		if !s.Confirmed.IsZero() {
			one.Published = new(metav1.NewMicroTime(s.Published.UTC()))
			one.Confirmed = new(metav1.NewMicroTime(s.Confirmed.UTC()))
		}
		if s.Serial != 0 {
			one.Serial = new(int64(s.Serial))
		}
		if s.Shown {
			data := append([]string{}, s.Data...)
			one.Data = &data
		}
		out.Servers = append(out.Servers, one)
	}
	return out
}

func at(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.UTC()))
}
