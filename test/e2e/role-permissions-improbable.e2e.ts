import { improbable } from '../support/apis.ts';
import { useExactlyItsPermissions } from '../support/role-permissions.ts';

useExactlyItsPermissions(improbable);
