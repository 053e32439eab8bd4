#!/usr/bin/env python3
"""manifests.py - the manifests of examples/kubernetes against the schemas of Kubernetes, and what
a schema can't know: the names that a node list has are those of the pods, and so on.

    manifests.py FILE...        with the package kubernetes-validate
"""
import sys

import kubernetes_validate.utils
import yaml

# Those that had ReadWriteOncePod, up to the newest of the package.
OLDEST = (1, 29)


def versions():
    known = {tuple(map(int, v.split(".")[:2])) for v in kubernetes_validate.utils.all_versions()}
    return ["%d.%d" % v for v in sorted(known) if v >= OLDEST]


def only(objects, kind, name):
    found = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    assert len(found) == 1, "%d of %s %s" % (len(found), kind, name)
    return found[0]


def names_of_pods(masters):
    spec, meta = masters["spec"], masters["metadata"]
    return {"%s-%d.%s.%s.svc.cluster.local" % (meta["name"], i, spec["serviceName"],
                                               meta["namespace"])
            for i in range(spec["replicas"])}


def check_masters(objects):
    masters = only(objects, "StatefulSet", "masters")
    labels = masters["spec"]["template"]["metadata"]["labels"]
    pod = masters["spec"]["template"]["spec"]
    apart = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    service = only(objects, "Service", masters["spec"]["serviceName"])
    budget = only(objects, "PodDisruptionBudget", "masters")
    assert masters["spec"]["replicas"] % 2 == 1
    assert masters["spec"]["selector"]["matchLabels"] == labels
    assert apart["labelSelector"]["matchLabels"] == labels
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert service["spec"]["selector"] == labels and service["spec"]["clusterIP"] == "None"
    assert budget["spec"]["selector"]["matchLabels"] == labels
    assert budget["spec"]["maxUnavailable"] == 1
    assert masters["spec"]["updateStrategy"]["type"] == "OnDelete"
    return masters


def check_mounts(pod):
    """Each mount has its volume, or a claim; and each volume a mount."""
    spec = pod["spec"]["template"]["spec"]
    volumes = {v["name"] for v in spec["volumes"]}
    volumes |= {c["metadata"]["name"] for c in pod["spec"].get("volumeClaimTemplates", [])}
    mounts = {m["name"] for c in spec["containers"] for m in c["volumeMounts"]}
    assert mounts == volumes, (mounts, volumes)


def check_paths(masters, conf):
    """What redis.conf names is mounted."""
    mounts = [m["mountPath"] for m in
              masters["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]]
    for line in conf.splitlines():
        words = line.split()
        if len(words) == 2 and not line.startswith("#") and words[1].startswith("/"):
            assert any(words[1] == m or words[1].startswith(m + "/") for m in mounts), line


def check_service(objects, masters):
    billing = only(objects, "Deployment", "billing")
    pod = billing["spec"]["template"]
    policy = only(objects, "NetworkPolicy", "masters")
    conf = only(objects, "ConfigMap", "billing-locks")["data"]["redlock.conf"]
    nodes = [line.split()[1] for line in conf.splitlines() if line.startswith("node ")]
    hosts = [url.split("@")[1].rsplit(":", 1)[0] for url in nodes]
    assert len(hosts) == len(set(hosts)) and set(hosts) == names_of_pods(masters), hosts
    port = masters["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"]
    assert {url.rsplit(":", 1)[1] for url in nodes} == {str(port)}
    may = policy["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"]
    assert may.items() <= pod["metadata"]["labels"].items()
    container = pod["spec"]["containers"][0]
    assert container["command"][:2] == ["redlock", "run"] and "livenessProbe" not in container
    check_mounts(billing)


def main(paths, conf):
    objects = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            objects += [o for o in yaml.safe_load_all(file) if o]
    for version in versions():
        for data in objects:
            kubernetes_validate.validate(data, version, strict=True)
    print("%d objects are valid for Kubernetes %s" % (len(objects), ", ".join(versions())))
    service = only(objects, "Service", "masters")
    broken = dict(service, spec=dict(service["spec"], ports=[{"port": "none"}]))
    try:
        kubernetes_validate.validate(broken, versions()[-1], strict=True)
    except kubernetes_validate.ValidationError:
        pass
    else:
        raise AssertionError("a port that is no number was not noticed")
    masters = check_masters(objects)
    check_mounts(masters)
    with open(conf, encoding="utf-8") as file:
        check_paths(masters, file.read())
    check_service(objects, masters)
    print("names, labels, mounts and paths agree")


main(sys.argv[2:], sys.argv[1])
