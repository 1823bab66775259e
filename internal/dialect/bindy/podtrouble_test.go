package bindy

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhyPodsAreNotReady(t *testing.T) {
	now := metav1.Now()
	status := func(named, api corev1.ContainerStatus) corev1.PodStatus {
		named.Name, api.Name, named.Image = "bind9", "api", "bind9:1"
		return corev1.PodStatus{
			Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
			ContainerStatuses: []corev1.ContainerStatus{api, named},
		}
	}
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason,
			Message: message}}}
	}
	running := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	up := running
	up.Ready = true
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error",
		Message: "21-Nov-2026 19:50:02.085 /etc/bind/named.conf.options:1: unknown option " +
			"'nonsense'\n2026-11-21T19:50:02.086Z exiting (due to fatal error)\n"}}
	const broken = "The container bind9 of Pod p ended with exit code 1: /etc/bind/named.conf.options:1: unknown option " +
		"'nonsense'; exiting (due to fatal error)."
	const unpulled = "Pod p cannot pull the image bind9:1 of its container bind9: correct the image or the version in " +
		"the spec, or make the image available. no such host 10.0.0.1->10.0.0.2:53."
	for _, c := range []struct {
		name   string
		status corev1.PodStatus
		want   string
	}{
		{"it is ready", corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}, ""},
		{"it was just made", corev1.PodStatus{}, ""},
		{"no node takes it", corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
				Message: "0/1 nodes are available: 1 Insufficient cpu."}}},
			"Pod p has no node: 0/1 nodes are available: 1 Insufficient cpu."},
		{"its image cannot be pulled", status(waiting("ErrImagePull", "no such host 10.0.0.1:4711->10.0.0.2:53"), up),
			unpulled},
		{"the pull is tried again", status(waiting("ImagePullBackOff",
			`Back-off pulling image "bind9:1": ErrImagePull: no such host 10.0.0.1:815->10.0.0.2:53`), up), unpulled},
		{"a Secret is missing", status(waiting("CreateContainerConfigError", `secret "x" not found`), up),
			`The container bind9 of Pod p cannot be started: secret "x" not found.`},
		{"BIND has just ended", status(corev1.ContainerStatus{State: ended}, up), broken},
		{"BIND is started again later",
			status(corev1.ContainerStatus{State: waiting("CrashLoopBackOff", "back-off 40s").State, LastTerminationState: ended,
				RestartCount: 3}, up), broken},
		{"BIND was started again", status(corev1.ContainerStatus{State: running.State, LastTerminationState: ended,
			RestartCount: 4}, up), broken},
		{"zones are missing", status(up, running), "Pod p does not yet have all of its zones."},
		{"BIND does not answer", status(running, running),
			"Pod p is not ready yet: its containers api, bind9 do not answer."},
		{"containers are made", status(waiting("ContainerCreating", ""), waiting("ContainerCreating", "")),
			"Pod p is starting; if that takes long, kubectl describe pod shows why."},
		{"it was evicted", corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}},
			"Pod p has failed: Evicted."},
	} {
		if got := podTrouble(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: c.status}); got != c.want {
			t.Errorf("%s: %q and not %q", c.name, got, c.want)
		}
		if got := podTrouble(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", DeletionTimestamp: &now},
			Status: c.status}); got != "" {
			t.Errorf("%s, on its way out: %q", c.name, got)
		}
	}
	var many []corev1.Pod
	for _, name := range []string{"e", "d", "c", "b", "a"} {
		many = append(many, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: status(up, running)})
	}
	want := []string{"Pod a does not yet have all of its zones.", "Pod b does not yet have all of its zones.",
		"Pod c does not yet have all of its zones.", "2 more pods are not ready."}
	if got := PodTroubles(many); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	want[len(want)-1] = "1 more pod is not ready."
	if got := PodTroubles(many[1:]); !slices.Equal(got, want) {
		t.Errorf("one more: %q", got)
	}
}
