import { improbable } from '../support/apis.ts';
import { useEveryPermission } from '../support/role-permissions.ts';
import { story } from '../support/story.ts';

story.onOurCluster('the operator uses exactly the permissions of its Role for the improbable API', (context) =>
  useEveryPermission(improbable, context),
);
