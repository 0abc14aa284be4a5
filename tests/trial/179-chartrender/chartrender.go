// Command chartrender renders a set of deployment charts from values and templates.
package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"sort"
	"strings"
	"text/template"
)

type Values map[string]any

type Chart struct {
	Name      string
	Values    Values
	Templates map[string]string
}

type renderable struct {
	tpl  string
	vals Values
	base string
}

type Engine struct {
	strict   bool
	lookups  int
	rendered int
}

func (e *Engine) funcMap() template.FuncMap {
	return template.FuncMap{
		"upper":  strings.ToUpper,
		"trunc":  func(n int, s string) string { return s[:min(n, len(s))] },
		"quote":  func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"indent": indent,
		"default": func(d, v any) any {
			if v == nil || v == "" {
				return d
			}
			return v
		},
		"include": func(string, any) (string, error) { return "", fmt.Errorf("include not initialised") },
		"tpl":     func(string, Values) (string, error) { return "", fmt.Errorf("tpl not initialised") },
		"lookup":  func(kind string) string { e.lookups++; return kind + "-ref" },
	}
}

func indent(n int, s string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad)
}

func (e *Engine) initFuncs(t *template.Template, tpls map[string]renderable) {
	fm := e.funcMap()
	fm["include"] = func(name string, data any) (string, error) {
		var buf strings.Builder
		err := t.ExecuteTemplate(&buf, name, data)
		return buf.String(), err
	}
	fm["tpl"] = func(text string, vals Values) (string, error) {
		name := "inline/tpl"
		inner := map[string]renderable{name: {tpl: text, vals: vals, base: "inline"}}
		out, err := e.renderWithReferences(inner, tpls)
		if err != nil {
			return "", fmt.Errorf("error during tpl of %q: %w", text, err)
		}
		return out[name], nil
	}
	t.Funcs(fm)
}

func (e *Engine) renderWithReferences(tpls, references map[string]renderable) (map[string]string, error) {
	t := template.New("gotpl")
	if e.strict {
		t.Option("missingkey=error")
	} else {
		t.Option("missingkey=zero")
	}
	e.initFuncs(t, references)
	for _, name := range sortedKeys(tpls) {
		if _, err := t.New(name).Parse(tpls[name].tpl); err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
	}
	for _, name := range sortedKeys(references) {
		if t.Lookup(name) == nil {
			if _, err := t.New(name).Parse(references[name].tpl); err != nil {
				return nil, fmt.Errorf("parse %s: %w", name, err)
			}
		}
	}
	out := make(map[string]string, len(tpls))
	for _, name := range sortedKeys(tpls) {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		var buf bytes.Buffer
		if err := t.ExecuteTemplate(&buf, name, tpls[name].vals); err != nil {
			return nil, err
		}
		out[name] = strings.ReplaceAll(buf.String(), "<no value>", "")
		e.rendered++
	}
	return out, nil
}

func (e *Engine) Render(charts []Chart) (map[string]string, error) {
	all := map[string]renderable{}
	for _, c := range charts {
		for file, text := range c.Templates {
			all[path.Join(c.Name, "templates", file)] = renderable{text, c.Values, c.Name}
		}
	}
	return e.renderWithReferences(all, all)
}

func sortedKeys(m map[string]renderable) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

const deployment = `kind: Deployment
metadata:
  name: {{ include "NAME.fullname" . | trunc 40 }}
  labels:
{{ include "NAME.labels" . | indent 4 }}
spec:
  replicas: {{ default 1 .replicas }}
  env:
{{- range $k, $v := .env }}
    - name: {{ $k | upper }}
      value: {{ tpl $v $ | quote }}
{{- end }}
`

const helpers = `{{- define "NAME.fullname" -}}{{ .release }}-{{ .name }}{{- end -}}
{{- define "NAME.labels" -}}
app: {{ .name }}
release: {{ .release }}
{{- if .tier }}
tier: {{ .tier | quote }}
{{- end }}
{{- range $i, $l := .extraLabels }}
label-{{ $i }}: {{ if eq $l "" }}none{{ else }}{{ $l | trunc 12 }}{{ end }}
{{- end }}
{{- end -}}
{{- define "NAME.selector" -}}{{ with .name }}app={{ . }},{{ end }}release={{ .release }}{{- end -}}
`

const service = `kind: Service
metadata: { name: {{ include "NAME.fullname" . }} }
spec:
  selector: {{ include "NAME.selector" . | quote }}
  ref: {{ lookup "Secret" }}
{{- range .ports }}
  - port: {{ . }}
{{- end }}
`

func buildCharts(n, envs int) []Chart {
	var charts []Chart
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("svc%02d", i)
		env := map[string]string{}
		for k := 0; k < envs; k++ {
			switch k % 3 {
			case 0:
				env[fmt.Sprintf("host_%02d", k)] = fmt.Sprintf("{{ .name }}-%d.{{ .release }}.local", k)
			case 1:
				env[fmt.Sprintf("dsn_%02d", k)] = fmt.Sprintf(`db://{{ include "%s.fullname" . }}/%d`, name, k*i)
			default:
				env[fmt.Sprintf("flag_%02d", k)] = fmt.Sprintf("{{ if .tier }}{{ .tier }}{{ else }}none{{ end }}-%d", k)
			}
		}
		vals := Values{"name": name, "release": "prod", "env": env, "replicas": i % 4,
			"extraLabels": []string{"team-platform", "", "owner-" + name}, "ports": []int{80, 8000 + i}}
		if i%3 != 0 {
			vals["tier"] = fmt.Sprintf("tier-%d", i%5)
		}
		tpls := map[string]string{}
		for file, text := range map[string]string{"deployment.yaml": deployment, "_helpers.tpl": helpers, "service.yaml": service} {
			tpls[file] = strings.ReplaceAll(text, "NAME", name)
		}
		charts = append(charts, Chart{Name: name, Values: vals, Templates: tpls})
	}
	return charts
}

func main() {
	e := &Engine{strict: false}
	out, err := e.Render(buildCharts(30, 24))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	h, size := fnv.New64a(), 0
	names := make([]string, 0, len(out))
	for name := range out {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		size += len(out[name])
		h.Write([]byte(name + "\x00" + out[name]))
	}
	fmt.Printf("%d manifests, %d bytes, digest %016x, lookups %d\n", len(out), size, h.Sum64(), e.lookups)
	fmt.Print(out["svc01/templates/service.yaml"])
}
