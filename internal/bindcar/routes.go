package bindcar

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A route is one method at one path. handle returns the status and the body of success; a nil body says that it has written.
type route struct {
	method, path string
	operation    string // counted in bindcar_zone_operations_total; "": not
	open         bool   // without authentication
	unlimited    bool   // not counted by the rate limit
	handle       func(w http.ResponseWriter, r *http.Request) (status int, body any, err error)
}

// routes is all that there is; openapi.json has the same, and a test compares them.
func (s *Server) routes() []route {
	zone := "/api/v1/zones/{name}"
	all := []route{
		{method: "POST", path: "/api/v1/zones", operation: "create", handle: s.createZone},
		{method: "GET", path: "/api/v1/zones", handle: s.listZones},
		{method: "GET", path: zone, handle: s.getZone},
		{method: "PATCH", path: zone, operation: "modify", handle: s.modifyZone},
		{method: "DELETE", path: zone, operation: "delete", handle: s.deleteZone},
		{method: "POST", path: zone + "/reload", operation: "reload", handle: s.tellZone("reload", "Zone %s reloaded successfully")},
		{method: "POST", path: zone + "/freeze", operation: "freeze", handle: s.tellZone("freeze", "Zone %s frozen successfully")},
		{method: "POST", path: zone + "/thaw", operation: "thaw", handle: s.tellZone("thaw", "Zone %s thawed successfully")},
		{method: "POST", path: zone + "/notify", operation: "notify", handle: s.tellZone("notify", "Notify sent for zone %s")},
		{method: "POST", path: zone + "/retransfer", operation: "retransfer", handle: s.tellZone("retransfer", "Retransfer initiated for zone %s")},
		{method: "GET", path: zone + "/status", handle: s.zoneStatus},
		{method: "POST", path: zone + "/records", operation: "record_add", handle: s.addRecord},
		{method: "PUT", path: zone + "/records", operation: "record_update", handle: s.updateRecord},
		{method: "DELETE", path: zone + "/records", operation: "record_remove", handle: s.removeRecord},
		{method: "GET", path: "/api/v1/server/status", handle: s.serverStatus},
		{method: "GET", path: "/api/v1/server/keys", handle: s.serverKeys},
		{method: "GET", path: "/api/v1/server/content", handle: s.getContent},
		{method: "PUT", path: "/api/v1/server/content", handle: s.putContent},
		{method: "POST", path: "/api/addzone/{name}", operation: "create", handle: s.addZone},
		{method: "DELETE", path: "/api/delzone/{name}", operation: "delete", handle: s.delZone},
		{method: "POST", path: "/api/notify/{name}", operation: "notify", handle: s.tellZone("notify", "Notify sent for zone %s")},
		{method: "GET", path: "/api/zonestatus/{name}", handle: s.zoneStatus},
		{method: "GET", path: "/api/v1/health", open: true, unlimited: true, handle: s.health},
		{method: "GET", path: "/api/v1/ready", open: true, unlimited: true, handle: s.ready},
		{method: "GET", path: "/metrics", open: true, unlimited: true, handle: s.scrape},
	}
	if s.settings.Docs {
		all = append(all,
			route{method: "GET", path: "/api/v1/openapi.json", open: true, handle: s.openAPI},
			route{method: "GET", path: "/api/v1/docs", open: true, handle: s.docs})
	} else {
		all = append(all, route{method: "GET", path: "/api/v1/openapi.json", handle: s.openAPI})
	}
	return all
}

func (s *Server) health(http.ResponseWriter, *http.Request) (int, any, error) {
	return http.StatusOK, Health{Status: "healthy", Version: s.version}, nil
}

func (s *Server) scrape(w http.ResponseWriter, r *http.Request) (int, any, error) {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return 0, nil, nil
}

func (s *Server) serverStatus(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	text, err := s.control.server(r.Context(), "status")
	if err != nil {
		return 0, nil, unavailable("asking BIND for its status", err)
	}
	return http.StatusOK, ServerStatus{Status: text}, nil
}
