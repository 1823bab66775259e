package bindy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// mostPods is how many pods a message tells of.
const mostPods = 3

// PodTroubles say why pods are not ready, as sentences. They say the same for as long as the cause is the same: a count
// of restarts, or the turns that a retry takes, would have the status written for ever.
func PodTroubles(pods []corev1.Pod) []string {
	pods = slices.Clone(pods)
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	var out []string
	more := 0
	for i := range pods {
		text := podTrouble(&pods[i])
		switch {
		case text == "":
		case len(out) == mostPods:
			more++
		default:
			out = append(out, text)
		}
	}
	switch more {
	case 0:
	case 1:
		out = append(out, "1 more pod is not ready.")
	default:
		out = append(out, fmt.Sprintf("%d more pods are not ready.", more))
	}
	return out
}

func podTrouble(p *corev1.Pod) string {
	if !p.DeletionTimestamp.IsZero() {
		return ""
	}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue:
			return ""
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			return Sentence("Pod %s has no node: %s.", p.Name, c.Message)
		}
	}
	if p.Status.Phase == corev1.PodFailed {
		return Sentence("Pod %s has failed: %s.", p.Name, cmp.Or(p.Status.Message, p.Status.Reason))
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if text := containerTrouble(p.Name, &c); text != "" {
			return text
		}
	}
	var waiting []string
	for _, c := range p.Status.ContainerStatuses {
		if !c.Ready {
			waiting = append(waiting, c.Name)
		}
	}
	switch {
	case len(waiting) == 0 && len(p.Status.ContainerStatuses) > 0, len(p.Status.Conditions) == 0:
		return "" // it is about to tell
	case !slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil
	}):
		return fmt.Sprintf("Pod %s is starting; if that takes long, kubectl describe pod shows why.", p.Name)
	case slices.Equal(waiting, []string{BindcarContainer}):
		return fmt.Sprintf("Pod %s does not yet have all of its zones.", p.Name)
	}
	return fmt.Sprintf("Pod %s is not ready yet: its containers %s do not answer.", p.Name, List(waiting))
}

// containerTrouble says what keeps a container from running.
func containerTrouble(pod string, c *corev1.ContainerStatus) string {
	if w := c.State.Waiting; w != nil {
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
			"RegistryUnavailable":
			return strings.TrimSpace(Sentence("Pod %s cannot pull the image %s of its container %s: correct the image or the "+
				"version in the spec, or make the image available. %s",
				pod, c.Image, c.Name, pullError(w.Message)))
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return Sentence("The container %s of Pod %s cannot be started: %s.", c.Name, pod, w.Message)
		}
	}
	ended := c.State.Terminated
	if ended == nil && !c.Ready {
		ended = c.LastTerminationState.Terminated
	}
	if ended == nil {
		return ""
	}
	why := fmt.Sprintf("exit code %d", ended.ExitCode)
	if ended.Reason != "" && ended.Reason != "Error" && ended.Reason != "Completed" {
		why = ended.Reason + ", " + why
	}
	if said := lastWords(ended.Message); said != "" {
		why += ": " + said
	}
	return Sentence("The container %s of Pod %s ended with %s.", c.Name, pod, why)
}

// pullError is what a registry said: the message of a retry has it as well as that of the failure.
func pullError(message string) string {
	if _, cause, ok := strings.Cut(message, "ErrImagePull: "); ok {
		message = cause
	}
	if strings.HasPrefix(message, "Back-off pulling image") {
		return ""
	}
	if message = shorten(sourcePort.ReplaceAllString(message, "->")); message == "" {
		return ""
	}
	return Sentence("%s.", message)
}

// sourcePort is another one with each try.
var sourcePort = regexp.MustCompile(`:\d+->`)

var timestamp = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT[0-9:.]+Z?|\d\d-[A-Z][a-z]{2}-\d{4} [0-9:.]+) ?`)

// lastWords are the last lines of a container's log, without the times, which differ from one try to the next.
func lastWords(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(timestamp.ReplaceAllString(strings.TrimSpace(line), ""))
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 4 {
		lines = lines[len(lines)-4:]
	}
	return shorten(strings.Join(lines, "; "))
}

// shorten keeps the end, where causes stand.
func shorten(s string) string {
	const most = 500
	if len(s) > most {
		s = "…" + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return strings.TrimSpace(s)
}

// Failures are what the Deployment's controller cannot do: a quota or a policy that refuses pods.
func Failures(d *appsv1.Deployment) []string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return []string{Sentence("Pods cannot be created: %s.", c.Message)}
		}
	}
	return nil
}
