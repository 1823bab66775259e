package servers

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

func TestMain(m *testing.M) { bindytest.Main(m, "../../../..") }

// A stage is one on which nothing works: what is asked of Servers is what a test asks.
type stage struct{ *bindytest.Stage }

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{bindytest.NewStage(t)}
}

func (s *stage) servers() *Servers {
	s.Helper()
	o := s.Operator(cache.Options{Scheme: s.Scheme})
	s.Begin(o, func(context.Context) error { return nil })
	return New(Config{Settings: o.Settings, Client: o.Client, Live: o.Live, Clock: o.Clock, Log: o.Log, Token: o.Token})
}

// aPrimary is a server of no cluster.
func aPrimary(t *testing.T) *dialect.Server {
	t.Helper()
	s, err := dialect.NewServer(&v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "ns"},
		Spec: v1beta1.Bind9InstanceSpec{Role: v1beta1.RolePrimary}}, nil, dialect.Settings{Namespace: "ops",
		ServiceAccount: "op", BIND9Image: "example/bind9", BindcarImage: "example/bindcar:1"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
