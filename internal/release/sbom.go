package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const home = "https://github.com/sidecar-ls/sidecar-ls"

// inIdentifiers are the characters that SPDX takes in its identifiers.
var inIdentifiers = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// sbom is the bill of materials: SPDX 2.3 as JSON.
func (b *build) sbom(all []component) ([]byte, error) {
	const ours, none = "sidecar-ls", "NOASSERTION"
	doc := spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      "sidecar-ls-" + b.version,
		DocumentNamespace: fmt.Sprintf("%s/spdx/%s-%s", home, b.version, b.commit),
		CreationInfo: &spdx.CreationInfo{
			Created:  b.date.Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "The sidecar-ls authors"}},
		},
		Packages: []*spdx.Package{{
			PackageName: ours, PackageSPDXIdentifier: ours, PackageVersion: b.version, PackageLicenseDeclared: "MIT", PackageLicenseConcluded: "MIT",
			PackageDownloadLocation: "git+" + home + "@" + b.commit, PackageCopyrightText: "Copyright (c) 2026 The sidecar-ls authors",
		}},
		Relationships: []*spdx.Relationship{{RefA: common.MakeDocElementID("", "DOCUMENT"), RefB: common.MakeDocElementID("", ours), Relationship: common.TypeRelationshipDescribe}},
	}
	for _, c := range all {
		id := common.ElementID("of-" + inIdentifiers.ReplaceAllString(c.name, "-"))
		p := &spdx.Package{
			PackageName: c.name, PackageSPDXIdentifier: id, PackageVersion: c.version, PackageDownloadLocation: none,
			PackageLicenseDeclared: c.licence, PackageLicenseConcluded: c.licence, PackageCopyrightText: none,
		}
		if c.module {
			p.PackageExternalReferences = []*spdx.PackageExternalReference{{
				Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: "pkg:golang/" + c.name + "@" + c.version,
			}}
		}
		if c.of != "" {
			p.PackageComment = "only in the binaries for " + c.of
		}
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{RefA: common.MakeDocElementID("", ours), RefB: common.MakeDocElementID("", string(id)), Relationship: common.TypeRelationshipContains})
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return out.Bytes(), err
}
