package check

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/plain"
)

// A findingsForm is the form in which findings are printed; it is a flag.
type findingsForm string

const (
	findingsAsText   findingsForm = "text"
	findingsAsJSON   findingsForm = "json"
	findingsAsYAML   findingsForm = "yaml"
	findingsAsSARIF  findingsForm = "sarif"  // SARIF 2.1.0 (OASIS), which code scanning reads
	findingsAsGitHub findingsForm = "github" // commands of GitHub's workflows, which become annotations
)

func (o *findingsForm) String() string { return string(*o) }
func (o *findingsForm) Type() string   { return "text|json|yaml|sarif|github" }

func (o *findingsForm) Set(s string) error {
	switch form := findingsForm(s); form {
	case findingsAsText, findingsAsJSON, findingsAsYAML, findingsAsSARIF, findingsAsGitHub:
		*o = form
		return nil
	}
	return errors.New("it must be text, json, yaml, sarif or github")
}

// annotation returns the finding as a command of a workflow.
func (f finding) annotation() string {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::%s file=%s,line=%d,title=%s::%s", f.Severity,
		property.Replace(filepath.ToSlash(f.File)), f.Line, property.Replace(f.Reason), value.Replace(plain.Line(f.Message)))
}

// The log that SARIF has, as far as findings need it (§3.13).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// sarifOf returns findings as a log. Levels of SARIF are called as our severities are.
func sarifOf(findings []finding, version string) sarifLog {
	driver := sarifDriver{Name: "zonefold", Version: version, Rules: []sarifRule{}}
	run := sarifRun{Results: make([]sarifResult, 0, len(findings))}
	ruled := map[string]bool{}
	for _, f := range findings {
		if !ruled[f.Reason] {
			ruled[f.Reason] = true
			driver.Rules = append(driver.Rules, sarifRule{f.Reason})
		}
		uri := url.URL{Path: filepath.ToSlash(f.File)}
		if filepath.IsAbs(f.File) {
			uri.Scheme = "file"
		}
		run.Results = append(run.Results, sarifResult{f.Reason, f.Severity, sarifMessage{plain.Line(f.Message)},
			[]sarifLocation{
				{sarifPhysical{sarifArtifact{uri.String()}, sarifRegion{f.Line}}},
			}})
	}
	run.Tool = sarifTool{driver}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}
