package route53

import (
	"cmp"
	"net/http"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/zonefold/zonefold/internal/backend/secretdata"
)

// Config says whose account, and where it is. It holds a secret, and is in no error and no log.
type Config struct {
	AccessKeyID, SecretAccessKey string
	SessionToken                 string // of temporary credentials
	// Chain takes the credentials of the process' surroundings in place of those: variables, files, the role of a Pod or
	// a machine.
	Chain bool
	// RoleARN is a role that is assumed with Token, a workload's identity.
	RoleARN, Token string
	// Region decides about the partition: the service has one endpoint for all regions of one. "" is us-west-2.
	Region string
	// Endpoint is the URL of the API; "" is the service's own.
	Endpoint string
	// STSEndpoint is the URL of the service that roles are assumed at; "" is the region's own.
	STSEndpoint string
	// HTTP is the way to both; nil: a transport of the client's own. Chain asks its surroundings in a way of its own.
	HTTP http.RoundTripper
}

// DefaultRegion is what requests are signed for where nothing names a region: that of Gardener's controllers.
const DefaultRegion = "us-west-2"

func (c Config) region() string { return cmp.Or(c.Region, DefaultRegion) }

// longestSessionToken bounds it, in octets, as Gardener's controllers do.
const longestSessionToken = 8192

// FromSecret reads the keys that the controllers of Gardener read. A Secret without any data leaves the credentials to
// the surroundings. The options are endpoint and stsEndpoint.
func FromSecret(data map[string][]byte, region string, options map[string]string) (Config, error) {
	r := secretdata.New(data, options)
	cfg := Config{
		AccessKeyID:     r.Text("AWS_ACCESS_KEY_ID", "accessKeyID", "accessKeyId"),
		SecretAccessKey: r.Text("AWS_SECRET_ACCESS_KEY", "secretAccessKey"),
		SessionToken:    r.Text("AWS_SESSION_TOKEN", "sessionToken"),
		Chain:           r.Bool("AWS_USE_CREDENTIALS_CHAIN") || len(data) == 0,
		Token:           r.Text("token"),
		Region:          region,
		Endpoint:        strings.TrimSuffix(r.Option("endpoint"), "/"),
		STSEndpoint:     strings.TrimSuffix(r.Option("stsEndpoint"), "/"),
	}
	if cfg.Token != "" {
		cfg.RoleARN = roleARN(r)
	}
	if own := r.Text("AWS_REGION", "region"); cfg.Region == "" {
		cfg.Region = own
	}
	switch static := cfg.AccessKeyID != "" || cfg.SecretAccessKey != ""; {
	case cfg.Chain && (static || cfg.Token != ""):
		r.Fail(
			"AWS_USE_CREDENTIALS_CHAIN uses the credentials of the environment, but the Secret has others; remove one of them")
	case static && cfg.Token != "":
		r.Fail("the Secret has an access key and the token of a workload identity; remove one of them")
	case !cfg.Chain && cfg.Token == "":
		if cfg.AccessKeyID == "" {
			r.Missing("AWS_ACCESS_KEY_ID", "accessKeyID")
		}
		if cfg.SecretAccessKey == "" {
			r.Missing("AWS_SECRET_ACCESS_KEY", "secretAccessKey")
		}
	}
	if len(cfg.SessionToken) > longestSessionToken {
		r.Fail("the session token has %d octets, more than %d", len(cfg.SessionToken), longestSessionToken)
	}
	checkForms(r, cfg)
	return cfg, r.Err()
}

// roleARN is the role of a workload's identity: a key of its own, or a field of its configuration.
func roleARN(r *secretdata.Reader) string {
	if arn := r.Text("roleARN"); arn != "" {
		return arn
	}
	var said struct {
		RoleARN string `yaml:"roleARN"`
	}
	if err := yaml.Unmarshal([]byte(r.Lines("config")), &said); err != nil {
		r.Fail("the value of config cannot be read as YAML")
	} else if said.RoleARN == "" {
		r.Missing("roleARN")
	}
	return said.RoleARN
}

// checkForms finds what the service would answer to as to wrong credentials.
func checkForms(r *secretdata.Reader, cfg Config) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": cfg.AccessKeyID, "AWS_SECRET_ACCESS_KEY": cfg.SecretAccessKey,
		"AWS_SESSION_TOKEN": cfg.SessionToken,
	} {
		if strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }) {
			r.Fail("the value of %s has invalid characters: perhaps two values were pasted", name)
		}
	}
	if strings.ContainsFunc(cfg.Region, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
	}) {
		r.Fail("%q is not a region; write one such as us-west-2", cfg.Region)
	}
	if cfg.RoleARN != "" && !strings.HasPrefix(cfg.RoleARN, "arn:") {
		r.Fail("the role begins with %q instead of arn:", cfg.RoleARN[:min(8, len(cfg.RoleARN))])
	}
	for name, at := range map[string]string{"endpoint": cfg.Endpoint, "stsEndpoint": cfg.STSEndpoint} {
		if at != "" && !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "http://") {
			r.Fail("the %s %q is not a URL", name, at)
		}
	}
}

// UsesSurroundings reports whether the credentials are those of the process: not everybody may have it use them.
func (c Config) UsesSurroundings() bool { return c.Chain }
