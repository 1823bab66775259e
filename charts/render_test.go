// Package charts_test renders the chart with helm's own code and checks what comes out.
package charts_test

import (
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	_ "helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	_ "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apimachinery/pkg/runtime/serializer"
	_ "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/pod-security-admission/api"
	_ "k8s.io/pod-security-admission/policy"
	_ "sigs.k8s.io/yaml"
)

func TestX(t *testing.T) {
	_ = common.Values{}
	_ = util.ToRenderValues
	_ = loader.Load
	_ = engine.Render
}
