package main

import (
	"maps"
	"testing"
)

func TestWatchesCountWhileTheyAreOpen(t *testing.T) {
	got := calls(`# TYPE apiserver_request_total counter
apiserver_request_total{code="200",resource="zones",subresource="status",verb="PATCH",version="v1alpha1"} 3
apiserver_request_total{code="409",resource="zones",subresource="status",verb="PATCH",version="v1alpha1"} 1
apiserver_request_total{code="200",resource="services",subresource="",verb="WATCH",version="v1"} 2
apiserver_longrunning_requests{resource="services",scope="cluster",subresource="",verb="WATCH",version="v1"} 1
apiserver_longrunning_requests{resource="pods",scope="resource",subresource="exec",verb="CONNECT",version="v1"} 1
apiserver_request_total{code="200",resource="",subresource="/metrics",verb="GET",version=""} 9
apiserver_request_duration_seconds_count{resource="services",subresource="",verb="LIST",version="v1"} 5
`)
	want := map[string]float64{"PATCH zones/status": 4, "WATCH services": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
