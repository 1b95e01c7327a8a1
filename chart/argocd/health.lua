-- Health of a FlinkApplication for Argo CD, which considers every custom resource healthy for which it has no check.
-- To install it:
--
--   kubectl --namespace argocd patch configmap argocd-cm --type merge --patch "$(jq --null-input \
--     --rawfile lua chart/argocd/health.lua \
--     '{data: {"resource.customizations.health.drey.dev_FlinkApplication": $lua}}')"
--
-- obj is the resource; the result has a status (Healthy, Progressing, Suspended, Degraded) and a message.

local health = {status = "Progressing", message = "drey has not written a status yet"}
local status = obj.status
if status == nil then
  return health
end
if status.observedGeneration ~= obj.metadata.generation then
  health.message = "drey has not read the last change yet"
  return health
end

local condition = {}
for _, one in ipairs(status.conditions or {}) do
  condition[one.type] = one
end
local function holds(type)
  return condition[type] ~= nil and condition[type].status == "True"
end

health.message = status.reason or status.phase or ""
if holds("Stalled") then
  health.status = "Degraded"
  health.message = condition["Stalled"].message
elseif status.phase == "Suspended" or status.phase == "Cancelled" or
  (condition["Ready"] ~= nil and condition["Ready"].reason == "DoNotRestart") then
  health.status = "Suspended"
elseif status.phase == "Finished" then
  health.status = "Healthy"
elseif holds("Ready") and not holds("Reconciling") then
  health.status = "Healthy"
end
return health
